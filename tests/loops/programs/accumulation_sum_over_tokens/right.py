import torch
from torch import nn


def train(model, batches, optimizer, window=4):
    optimizer.zero_grad()
    count = 0
    for i, (x, y) in enumerate(batches):
        loss = nn.functional.cross_entropy(model(x), y, reduction="sum")
        loss.backward()
        count += y.numel()
        if (i + 1) % window == 0 or (i + 1) == len(batches):
            for p in model.parameters():
                p.grad.div_(count)
            optimizer.step()
            optimizer.zero_grad()
            count = 0


model = nn.Linear(4, 3)
batches = [(torch.randn(n, 4), torch.randint(0, 3, (n,))) for n in (2, 3, 5, 4, 1, 2)]
train(model, batches, torch.optim.SGD(model.parameters(), lr=0.1))
