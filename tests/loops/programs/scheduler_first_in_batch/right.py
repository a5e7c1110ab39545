import torch
from torch import nn


class Module:
    def __init__(self, total_steps):
        self.model = nn.Linear(4, 4)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda step: min(1.0, (step + 1) / 4) * max(0.0, 1 - step / total_steps))

    def training_step(self, x):
        loss = (self.model(x) - x).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()


module = Module(total_steps=12)
for _ in range(12):
    module.training_step(torch.randn(3, 4))
