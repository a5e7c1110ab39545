import torch
from torch import nn

window = 4
model = nn.Linear(5, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(16):
    if i % window == 0:
        optimizer.zero_grad()
    x, y = torch.randn(4, 5), torch.randint(0, 2, (4,))
    (nn.functional.cross_entropy(model(x), y) / window).backward()
    if i % window == window - 1:
        optimizer.step()
