import contextlib

import torch
from torch import nn


@contextlib.contextmanager
def evaluating(model):
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield model
    finally:
        model.train(training)


model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(6):
    x, y = torch.randn(4, 4), torch.randint(0, 2, (4,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    if step % 3 == 0:
        with evaluating(model) as frozen:
            print(frozen(x).argmax(1))
