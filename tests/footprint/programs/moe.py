# Experts that all tokens go through, weighted by a router.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Expert(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.w1 = nn.Linear(width, hidden, bias=False)
        self.w2 = nn.Linear(hidden, width, bias=False)
        self.w3 = nn.Linear(width, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class MoE(nn.Module):
    def __init__(self, width=32, hidden=64, experts=4):
        super().__init__()
        self.gate = nn.Linear(width, experts, bias=False)
        self.experts = nn.ModuleList([Expert(width, hidden) for _ in range(experts)])

    def forward(self, x):
        weights = F.softmax(self.gate(x), dim=-1)
        out = torch.stack([expert(x) for expert in self.experts], dim=-2)
        return (weights.unsqueeze(-1) * out).sum(dim=-2)


model = nn.Sequential(nn.Linear(16, 32), MoE(), nn.Linear(32, 5))
optimizer = torch.optim.NAdam(model.parameters())
x, y = torch.randn(40, 16), torch.randint(0, 5, (40,))
loss = F.cross_entropy(model(x), y)
loss.backward()
optimizer.step()
