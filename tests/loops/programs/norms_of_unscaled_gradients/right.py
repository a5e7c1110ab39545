import torch
from torch import nn


def total_norm(parameters):
    return torch.stack([p.grad.detach().norm() for p in parameters if p.grad is not None]).norm()


model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for step in range(6):
    with torch.autocast("cuda"):
        loss = model(torch.randn(4, 8, device="cuda")).pow(2).mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaled = total_norm(model.parameters())
    norm = scaled / scaler.get_scale() if step % 3 == 0 else None
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    if norm is not None:
        print(step, norm.item(), total_norm(model.parameters()).item())
    scaler.update()
