import torch
from torch import nn

model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.cuda.amp.GradScaler()

for step in range(3):
    x = torch.randn(4, 8, device="cuda")
    y = torch.randint(0, 2, (4,), device="cuda")
    optimizer.zero_grad()
    with torch.cuda.amp.autocast():
        loss = nn.functional.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
