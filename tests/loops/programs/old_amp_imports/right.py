import torch
from torch import nn
from torch.amp import GradScaler, autocast


class Trainer:
    def __init__(self, model, optimizer, amp=True):
        self.model = model
        self.optimizer = optimizer
        self.amp = amp
        self.scaler = GradScaler("cuda", enabled=amp)

    def step(self, x, y):
        with autocast("cuda", enabled=self.amp):
            loss = nn.functional.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()


model = nn.Linear(3, 3).cuda()
trainer = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1))
for _ in range(2):
    trainer.step(torch.randn(2, 3).cuda(), torch.randn(2, 3).cuda())
