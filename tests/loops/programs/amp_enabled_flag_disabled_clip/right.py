import torch
from torch import nn

use_fp16 = False
model = nn.Linear(8, 3).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda", enabled=use_fp16)

for step in range(3):
    x = torch.randn(4, 8, device="cuda")
    with torch.autocast("cuda", enabled=use_fp16):
        loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
