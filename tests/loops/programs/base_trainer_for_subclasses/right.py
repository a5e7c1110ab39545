import torch
from torch import nn


class BaseTrainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def training_step(self, batch):
        raise NotImplementedError

    def before_step(self):
        pass

    def fit(self, batches):
        self.model.train()
        for batch in batches:
            self.training_step(batch)
            self.before_step()
            self.optimizer.step()


class Regression(BaseTrainer):
    def training_step(self, batch):
        x, y = batch
        self.optimizer.zero_grad()
        nn.functional.mse_loss(self.model(x), y).backward()


class Clipped(Regression):
    def before_step(self):
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)


model = nn.Linear(3, 1)
trainer = Clipped(model, torch.optim.SGD(model.parameters(), lr=0.1))
trainer.fit([(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(3)])
