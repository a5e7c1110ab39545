from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class TrainConfig:
    precision: str = "bf16"
    lr: float = 1e-3
    steps: int = 3


DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16}


class Trainer:
    def __init__(self, model, cfg):
        self.cfg = cfg
        self.model = model.cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr)
        self.dtype = DTYPES[cfg.precision]
        self.scaler = torch.amp.GradScaler("cuda", enabled=True)

    def fit(self):
        for _ in range(self.cfg.steps):
            x = torch.randn(4, 8, device="cuda")
            with torch.autocast("cuda", dtype=self.dtype):
                loss = self.model(x).square().mean()
            self.optimizer.zero_grad()
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()


Trainer(nn.Linear(8, 8), TrainConfig()).fit()
