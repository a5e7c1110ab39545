import torch
from torch import nn


class Trainer:
    def __init__(self, model, accumulation_steps=4):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        self.accumulation_steps = accumulation_steps

    def compute_loss(self, batch):
        x, y = batch
        return nn.functional.mse_loss(self.model(x), y)

    def update(self):
        self.optimizer.step()

    def train(self, batches):
        self.model.train()
        for i, batch in enumerate(batches):
            loss = self.compute_loss(batch) / self.accumulation_steps
            loss.backward()
            if (i + 1) % self.accumulation_steps == 0:
                self.update()


batches = [(torch.randn(2, 6), torch.randn(2, 1)) for _ in range(16)]
Trainer(nn.Linear(6, 1)).train(batches)
