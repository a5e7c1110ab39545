import torch
from torch import nn


def grad_norm(parameters):
    norms = [p.grad.norm() for p in parameters if p.grad is not None]
    return torch.stack(norms).norm()


model = nn.Linear(8, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cuda")
history = []

for step in range(8):
    x = torch.randn(4, 8, device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    if step % 4 == 0:
        history.append(grad_norm(model.parameters()).item())
    scaler.step(optimizer)
    scaler.update()
