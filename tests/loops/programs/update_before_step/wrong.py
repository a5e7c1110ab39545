import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).to("cuda")
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda")

for _ in range(5):
    x = torch.rand(16, 4, device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        loss = (model(x) - x.mean(dim=1, keepdim=True)).abs().mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.update()
    scaler.step(optimizer)
