import torch
from torch import nn


class Learner:
    def __init__(self, width=16):
        self.net = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05)

    def loss(self, x, y):
        return nn.functional.cross_entropy(self.net(x), y)

    def backward(self, loss):
        self.optimizer.zero_grad()
        loss.backward()

    def step(self, x, y):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = self.loss(x, y)
        self.backward(loss)
        self.optimizer.step()


learner = Learner()
for _ in range(5):
    learner.step(torch.randn(8, 16), torch.randint(0, 2, (8,)))
