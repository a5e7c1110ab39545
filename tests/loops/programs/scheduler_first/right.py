import torch
from torch import nn
from torch.optim.lr_scheduler import StepLR

model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = StepLR(optimizer, step_size=2, gamma=0.5)

for epoch in range(4):
    for _ in range(5):
        x, y = torch.randn(8, 6), torch.randint(0, 2, (8,))
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    scheduler.step()
