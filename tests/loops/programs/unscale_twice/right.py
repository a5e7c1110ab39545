import torch
from torch import nn


class Runner:
    def __init__(self):
        self.model = nn.Linear(6, 3).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        self.scaler = torch.amp.GradScaler("cuda")

    def clip(self, max_norm):
        self.scaler.unscale_(self.optimizer)
        return nn.utils.clip_grad_norm_(self.model.parameters(), max_norm)

    def has_large_gradient(self):
        return any(p.grad.abs().max() > 100 for p in self.model.parameters() if p.grad is not None)

    def step(self, x, y):
        self.optimizer.zero_grad()
        with torch.autocast("cuda"):
            loss = nn.functional.cross_entropy(self.model(x), y)
        self.scaler.scale(loss).backward()
        self.clip(1.0)
        if self.has_large_gradient():
            print("large gradient")
        self.scaler.step(self.optimizer)
        self.scaler.update()


runner = Runner()
for _ in range(3):
    runner.step(torch.randn(8, 6).cuda(), torch.randint(0, 3, (8,)).cuda())
