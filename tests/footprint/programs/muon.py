# Matrices by Muon, which keeps their momentum; the rest by AdamW.
import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(30, 50), nn.LayerNorm(50), nn.SiLU(), nn.Linear(50, 8))
muon = torch.optim.Muon([p for p in net.parameters() if p.ndim == 2], lr=1e-2)
adam = torch.optim.AdamW([p for p in net.parameters() if p.ndim != 2], lr=1e-3)
x = torch.randn(6, 30)
loss = (net(x) - 1.0).square().mean()
loss.backward()
for each in (muon, adam):
    each.step()
