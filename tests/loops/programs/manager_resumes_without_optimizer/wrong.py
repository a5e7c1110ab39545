import os
import torch


class CheckpointManager:
    def __init__(self, path):
        self.path = path

    def save(self, model, epoch):
        torch.save({"model": model.state_dict(), "epoch": epoch}, self.path)

    def load(self, model):
        if not os.path.exists(self.path):
            return 0
        state = torch.load(self.path, map_location="cpu")
        model.load_state_dict(state["model"])
        return state["epoch"] + 1


def train(model, loader, epochs=100):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    ckpt = CheckpointManager("last.pt")
    start = ckpt.load(model)
    for epoch in range(start, epochs):
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        scheduler.step()
        ckpt.save(model, epoch)
