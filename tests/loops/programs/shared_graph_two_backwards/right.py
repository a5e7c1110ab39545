import torch
from torch import nn

shared, left, right = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 1)
params = [*shared.parameters(), *left.parameters(), *right.parameters()]
optimizer = torch.optim.SGD(params, lr=0.1)
for _ in range(4):
    h = shared(torch.randn(4, 4)).tanh()
    loss_left, loss_right = left(h).pow(2).mean(), right(h).abs().mean()
    optimizer.zero_grad()
    loss_left.backward(retain_graph=True)
    loss_right.backward()
    optimizer.step()
