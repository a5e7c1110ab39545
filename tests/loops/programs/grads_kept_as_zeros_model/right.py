import torch
from torch import nn


class Loop:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def clear(self):
        self.model.zero_grad(set_to_none=True)

    def step(self, x):
        self.clear()
        self.model(x).pow(2).mean().backward()
        self.optimizer.step()


loop = Loop()
for _ in range(4):
    loop.step(torch.randn(4, 4))
