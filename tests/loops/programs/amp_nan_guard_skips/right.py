import math

import torch
from torch import nn

model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10)
scaler = torch.amp.GradScaler("cuda")

for step in range(6):
    with torch.autocast("cuda"):
        loss = model(torch.randn(4, 4, device="cuda")).pow(2).mean()
    if step % 2 == 0 and not math.isfinite(loss.item()):
        optimizer.zero_grad()
        continue
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    old_scale = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    if scaler.get_scale() >= old_scale:
        scheduler.step()
    optimizer.zero_grad()
