import torch
from torch import nn

model = nn.Linear(4, 1)
ema = [p.detach().clone() for p in model.parameters()]
for step in range(4):
    loss = model(torch.randn(8, 4)).pow(2).mean()
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for p, average in zip(model.parameters(), ema):
            p.sub_(0.1 * p.grad)
            average.lerp_(p, 0.1)
