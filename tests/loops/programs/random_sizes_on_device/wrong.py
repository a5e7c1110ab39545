import random

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(32, 32).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(20):
    size = random.randint(100, 1000)
    x = torch.randn(size, 32, device=device)
    loss = (model(x) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
