import torch
from torch import nn


class NoamOptimizer:
    def __init__(self, inner, width, warmup):
        self.inner, self.width, self.warmup, self.count = inner, width, warmup, 0

    def rate(self):
        return self.width ** -0.5 * min(self.count ** -0.5, self.count * self.warmup ** -1.5)

    def step_and_clear(self):
        self.count += 1
        for group in self.inner.param_groups:
            group["lr"] = self.rate()
        self.inner.step()
        self.inner.zero_grad(set_to_none=True)


model = nn.Linear(8, 2)
optimizer = NoamOptimizer(torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9), 8, 10)
for _ in range(6):
    nn.functional.cross_entropy(model(torch.randn(4, 8)), torch.randint(0, 2, (4,))).backward()
    optimizer.step_and_clear()
