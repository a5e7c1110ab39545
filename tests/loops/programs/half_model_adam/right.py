import torch
from torch import nn

model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64))
model = model.cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, eps=1e-8)
scaler = torch.amp.GradScaler("cuda")

for step in range(100):
    x = torch.randn(32, 64, device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        loss = (model(x) - x).pow(2).mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
