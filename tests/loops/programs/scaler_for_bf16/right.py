import torch
import torch.nn.functional as F
from torch import nn

dtype = torch.bfloat16
model = nn.Linear(8, 4).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
scaler = torch.amp.GradScaler("cuda", enabled=(dtype == torch.float16))

for step in range(4):
    x = torch.randn(8, 8, device="cuda")
    y = torch.randint(0, 4, (8,), device="cuda")
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cuda", dtype=dtype):
        loss = F.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
