import torch
from torch import nn


def make_train_step(model, optimizer, criterion):
    def train_step(x, y):
        model.train()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()
    return train_step


model = nn.Linear(4, 2)
step = make_train_step(model, torch.optim.SGD(model.parameters(), lr=0.1), nn.CrossEntropyLoss())
losses = [step(torch.randn(8, 4), torch.randint(0, 2, (8,))) for _ in range(5)]
for _ in range(5):
    losses.append(step(torch.randn(8, 4), torch.randint(0, 2, (8,))))
print(sum(losses) / len(losses))
