import os
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class State:
    model: nn.Module
    optimizer: torch.optim.Optimizer
    scaler: object
    epoch: int = 0

    def save(self, path):
        states = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "epoch": self.epoch}
        torch.save(states, path + ".new")
        os.replace(path + ".new", path)

    def load(self, path):
        states = torch.load(path, map_location="cuda")
        self.model.load_state_dict(states["model"])
        self.optimizer.load_state_dict(states["optimizer"])
        self.epoch = states["epoch"]


model = nn.Linear(4, 4).cuda()
state = State(model, torch.optim.AdamW(model.parameters(), lr=1e-3), torch.amp.GradScaler("cuda"))
if os.path.exists("state.pt"):
    state.load("state.pt")
while state.epoch < 3:
    with torch.autocast("cuda"):
        loss = model(torch.randn(4, 4, device="cuda")).pow(2).mean()
    state.optimizer.zero_grad()
    state.scaler.scale(loss).backward()
    state.scaler.step(state.optimizer)
    state.scaler.update()
    state.epoch += 1
    state.save("state.pt")
