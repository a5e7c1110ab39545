import tempfile
from pathlib import Path

import torch
from torch import nn


class CheckpointManager:
    def __init__(self, folder):
        self.path = Path(folder) / "last.ckpt"
        self.path.parent.mkdir(parents=True, exist_ok=True)

    def save(self, **state):
        torch.save(state, self.path)

    def load(self):
        return torch.load(self.path) if self.path.exists() else None


def train(folder):
    manager = CheckpointManager(folder)
    model = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    state = manager.load()
    step = 0
    if state is not None:
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step = state["step"]
    while step < 4:
        loss = model(torch.randn(4, 2)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        manager.save(model=model.state_dict(), optimizer=optimizer.state_dict(), step=step)


train(tempfile.mkdtemp())
