import torch
from torch import nn


class AverageMeter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, n=1):
        self.sum = self.sum + value * n
        self.count += n

    @property
    def average(self):
        return self.sum / max(self.count, 1)


def train(model, batches, optimizer):
    meter = AverageMeter()
    history = {"loss": []}
    for x, y in batches:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.update(loss, x.size(0))
    history["loss"].append(float(meter.average))
    return history


model = nn.Linear(5, 2)
batches = [(torch.randn(4, 5), torch.randint(0, 2, (4,))) for _ in range(6)]
print(train(model, batches, torch.optim.SGD(model.parameters(), lr=0.1)))
