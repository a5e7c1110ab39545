import torch
from torch import nn


class Trainer:
    def __init__(self, model, lr=0.01):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)

    def optimize(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)

    def fit(self, batches, epochs=2):
        for epoch in range(epochs):
            total = 0.0
            for x, y in batches:
                loss = nn.functional.cross_entropy(self.model(x), y)
                self.optimize(loss)
                total += loss.item()
            print(epoch, total)


Trainer(nn.Linear(4, 3)).fit([(torch.randn(4, 4), torch.randint(0, 3, (4,))) for _ in range(4)])
