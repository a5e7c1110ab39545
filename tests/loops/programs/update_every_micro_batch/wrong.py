from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    accumulation: int = 4
    lr: float = 1e-3
    steps: int = 16


def train(cfg):
    model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 5)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    scaler = torch.amp.GradScaler("cuda")
    for i in range(cfg.steps):
        x = torch.randn(4, 10, device="cuda")
        y = torch.randint(0, 5, (4,), device="cuda")
        with torch.autocast("cuda"):
            loss = F.cross_entropy(model(x), y)
        scaler.scale(loss / cfg.accumulation).backward()
        if (i + 1) % cfg.accumulation == 0:
            scaler.step(optimizer)
            optimizer.zero_grad()
        scaler.update()


train(Config())
