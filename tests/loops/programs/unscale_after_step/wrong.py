import torch
from torch import nn

encoder = nn.Linear(8, 4).cuda()
head = nn.Linear(4, 2).cuda()
opt_encoder = torch.optim.AdamW(encoder.parameters(), lr=1e-4)
opt_head = torch.optim.AdamW(head.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda")

for i in range(3):
    x = torch.randn(8, 8, device="cuda")
    y = torch.randint(0, 2, (8,), device="cuda")
    opt_encoder.zero_grad()
    opt_head.zero_grad()
    with torch.autocast("cuda"):
        loss = nn.functional.cross_entropy(head(encoder(x)), y)
    scaler.scale(loss).backward()
    scaler.unscale_(opt_encoder)
    nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
    scaler.step(opt_encoder)
    scaler.step(opt_head)
    scaler.unscale_(opt_head)
    scaler.update()
