import torch
from torch import nn


def build(width):
    return nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Linear(width, 2))


model = build(8)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
model = build(32)

for step in range(10):
    x, y = torch.randn(8, 6), torch.randint(0, 2, (8,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
