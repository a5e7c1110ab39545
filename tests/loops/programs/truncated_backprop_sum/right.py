import torch
from torch import nn

cell, head = nn.LSTMCell(3, 6), nn.Linear(6, 1)
parameters = [*cell.parameters(), *head.parameters()]
optimizer = torch.optim.Adam(parameters, lr=1e-3)
h, c = torch.zeros(2, 6), torch.zeros(2, 6)
loss = 0.0
window = 5
for t, x in enumerate(torch.randn(20, 2, 3)):
    h, c = cell(x, (h, c))
    loss = loss + head(h).pow(2).mean()
    if (t + 1) % window == 0:
        optimizer.zero_grad()
        (loss / window).backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        h, c, loss = h.detach(), c.detach(), 0.0
