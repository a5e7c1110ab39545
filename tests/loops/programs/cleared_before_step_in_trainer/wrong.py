from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Options:
    lr: float = 0.05
    clip: float = 1.0
    epochs: int = 2


class Trainer:
    def __init__(self, model, options):
        self.model, self.options = model, options
        self.optimizer = torch.optim.SGD(model.parameters(), lr=options.lr)

    def backward(self, loss):
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.options.clip)

    def step(self):
        self.model.zero_grad()
        self.optimizer.step()

    def fit(self, batches):
        for _ in range(self.options.epochs):
            for x, y in batches:
                self.backward(nn.functional.mse_loss(self.model(x), y))
                self.step()


Trainer(nn.Linear(4, 1), Options()).fit([(torch.randn(4, 4), torch.randn(4, 1)) for _ in range(5)])
