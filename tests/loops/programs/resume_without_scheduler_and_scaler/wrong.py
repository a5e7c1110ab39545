import os

import torch
from torch import nn


class Trainer:
    def __init__(self, model, steps):
        self.model = model.cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=steps)
        self.scaler = torch.amp.GradScaler("cuda")
        self.step, self.steps = 0, steps

    def save(self, path):
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
        }
        torch.save(state, path + ".part")
        os.replace(path + ".part", path)

    def load(self, path):
        state = torch.load(path, map_location="cuda")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step = state["step"]

    def train(self, path):
        if os.path.exists(path):
            self.load(path)
        while self.step < self.steps:
            with torch.autocast("cuda"):
                loss = self.model(torch.randn(4, 4, device="cuda")).pow(2).mean()
            self.optimizer.zero_grad()
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.scheduler.step()
            self.step += 1
            if self.step % 2 == 0:
                self.save(path)


Trainer(nn.Linear(4, 4), 6).train("last.pt")
