import torch
from torch import nn

try:
    from torch.amp import GradScaler
    new_api = True
except ImportError:
    from torch.cuda.amp import GradScaler
    new_api = False

model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = GradScaler("cuda") if new_api else GradScaler()
autocast = torch.autocast("cuda", dtype=torch.float16)

for step in range(3):
    with autocast:
        loss = model(torch.randn(4, 4, device="cuda")).pow(2).mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
