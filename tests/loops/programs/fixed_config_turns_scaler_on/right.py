from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    use_amp: bool = True
    clip: float = 1.0


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = nn.Linear(4, 4).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.scaler = torch.amp.GradScaler("cuda", enabled=cfg.use_amp)

    def step(self, x):
        with torch.autocast("cuda", enabled=self.cfg.use_amp):
            loss = (self.model(x) - x).pow(2).mean()
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()


trainer = Trainer(Config())
for _ in range(3):
    trainer.step(torch.randn(4, 4).cuda())
