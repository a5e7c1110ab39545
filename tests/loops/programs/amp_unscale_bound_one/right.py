import torch
from torch import nn

ACCUMULATION = 1
model = nn.Linear(6, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")

for i in range(4):
    x, y = torch.randn(4, 6, device="cuda"), torch.randint(0, 2, (4,), device="cuda")
    with torch.autocast("cuda"):
        loss = nn.functional.cross_entropy(model(x), y) / ACCUMULATION
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if (i + 1) % ACCUMULATION == 0:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
