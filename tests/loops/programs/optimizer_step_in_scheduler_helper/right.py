import torch
from torch import nn


def advance(optimizer, scheduler):
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad()


total_steps = 12
model = nn.Linear(3, 2)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=total_steps)
for step in range(total_steps):
    nn.functional.cross_entropy(model(torch.randn(4, 3)), torch.randint(0, 2, (4,))).backward()
    advance(optimizer, scheduler)
    print(scheduler.get_last_lr()[0])
