import torch
from torch import nn

loader = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(5)]
iters = len(loader)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2, T_mult=2)
for epoch in range(4):
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        scheduler.step(epoch + i / iters)
