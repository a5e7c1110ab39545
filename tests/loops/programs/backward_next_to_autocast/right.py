import contextlib

import torch
from torch import nn

use_amp = True
context = torch.autocast("cuda", dtype=torch.bfloat16) if use_amp else contextlib.nullcontext()
model = nn.Linear(6, 2).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(4):
    with context:
        with torch.autocast("cuda", enabled=False):
            noise = torch.randn(4, 6, device="cuda")
        loss = model(noise).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad(), torch.autocast("cuda", dtype=torch.float16):
        model(torch.randn(2, 6, device="cuda"))
