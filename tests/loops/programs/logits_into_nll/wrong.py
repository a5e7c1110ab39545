import torch
import torch.nn.functional as F
from torch import nn

model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def compute_loss(x, y):
    out = model(x)
    return F.nll_loss(out, y)


for step in range(5):
    loss = compute_loss(torch.randn(8, 6), torch.randint(0, 3, (8,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
