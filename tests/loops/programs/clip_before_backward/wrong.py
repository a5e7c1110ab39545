import torch
from torch import nn

model = nn.Linear(10, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(6):
    loss = nn.functional.mse_loss(model(torch.randn(4, 10)), torch.randn(4, 1))
    optimizer.zero_grad()
    nn.utils.clip_grad_value_(model.parameters(), 0.5)
    loss.backward()
    optimizer.step()
