import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    x = torch.randn(8, 4)
    loss = (model(x) - x[:, :1]).pow(2).mean()
    value = loss.item()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, value)
