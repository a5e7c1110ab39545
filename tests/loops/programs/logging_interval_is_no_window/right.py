import torch
from torch import nn

log_every = 4
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for i in range(13):
    loss = nn.functional.mse_loss(model(torch.randn(4, 5)), torch.randn(4, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if i % log_every == 0:
        print(i, loss.item())
