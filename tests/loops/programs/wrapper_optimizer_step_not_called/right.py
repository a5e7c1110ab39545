import torch
from torch import nn


class WarmupOptimizer:
    def __init__(self, optimizer, warmup):
        self.optimizer, self.warmup, self.count = optimizer, warmup, 0
        self.base = optimizer.param_groups[0]["lr"]

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self):
        self.count += 1
        for group in self.optimizer.param_groups:
            group["lr"] = self.base * min(1.0, self.count / self.warmup)
        self.optimizer.step()


def main():
    model = nn.Linear(4, 2)
    optimizer = WarmupOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), warmup=4)
    for _ in range(6):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(torch.randn(8, 4)), torch.randint(0, 2, (8,))).backward()
        optimizer.step()


main()
