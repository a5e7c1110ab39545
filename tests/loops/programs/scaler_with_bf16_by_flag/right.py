import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--dtype", choices=["float16", "bfloat16"], default="float16")
args = parser.parse_args()
dtype = getattr(torch, args.dtype)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda") if dtype is torch.float16 else None
for step in range(4):
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=dtype):
        loss = model(torch.randn(4, 4, device="cuda")).pow(2).mean()
    if scaler:
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    else:
        loss.backward()
        optimizer.step()
