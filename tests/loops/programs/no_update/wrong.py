import torch
from torch import nn

model = nn.Linear(10, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
loss_fn = nn.CrossEntropyLoss()

for step in range(10):
    x = torch.randn(32, 10, device="cuda")
    y = torch.randint(0, 2, (32,), device="cuda")
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
