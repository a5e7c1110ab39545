import torch
from torch import nn

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
buffers = [torch.zeros_like(p) for p in model.parameters()]
for p, buffer in zip(model.parameters(), buffers):
    p.grad = buffer
for step in range(4):
    for p in model.parameters():
        p.grad.zero_()
    nn.functional.cross_entropy(model(torch.randn(4, 4)), torch.randint(0, 2, (4,))).backward()
    optimizer.step()
