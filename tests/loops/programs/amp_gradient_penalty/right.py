import torch
from torch import nn

model = nn.Sequential(nn.Linear(6, 12), nn.Softplus(), nn.Linear(12, 1)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda")

for step in range(3):
    x = torch.randn(8, 6, device="cuda")
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = model(x).pow(2).mean()
    scaled = torch.autograd.grad(scaler.scale(loss), list(model.parameters()), create_graph=True)
    inv_scale = 1.0 / scaler.get_scale()
    grads = [g * inv_scale for g in scaled]
    with torch.autocast("cuda", dtype=torch.float16):
        penalty = sum(g.pow(2).sum() for g in grads).sqrt()
        loss = loss + 0.1 * penalty
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
