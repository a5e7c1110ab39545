import torch
from torch import nn

model = nn.Linear(4, 1)
rate = 0.1
for step in range(10):
    x = torch.randn(8, 4)
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= rate * p.grad
            p.grad = None
