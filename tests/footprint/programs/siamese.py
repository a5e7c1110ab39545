# One network for both sides; double precision.
import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.PReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.Hardswish(), nn.Flatten(), nn.Linear(16 * 5 * 5, 32)).double()
optimizer = torch.optim.AdamW(net.parameters())
a, b = torch.randn(4, 1, 16, 16, dtype=torch.float64), torch.randn(4, 1, 16, 16, dtype=torch.float64)
one, two = net(a), net(b)
distance = (one - two).pow(2).sum(1)
loss = distance.mean() + F.relu(1 - distance.sqrt()).pow(2).mean()
loss.backward()
optimizer.step()
