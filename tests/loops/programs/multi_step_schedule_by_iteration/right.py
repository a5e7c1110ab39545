import torch
from torch import nn

steps_per_epoch, epochs = 5, 3
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-4)
warmup = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.01, total_iters=steps_per_epoch)
cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps_per_epoch * (epochs - 1))
scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, [warmup, cosine], milestones=[steps_per_epoch])
for epoch in range(epochs):
    for _ in range(steps_per_epoch):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(torch.randn(8, 4)), torch.randint(0, 2, (8,))).backward()
        optimizer.step()
        scheduler.step()
    optimizer.zero_grad(set_to_none=True)
