import torch
import torch.nn.functional as F
from torch import nn

model = nn.Linear(8, 1).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda")

for step in range(4):
    x = torch.randn(4, 8, device="cuda")
    y = torch.rand(4, 1, device="cuda").round()
    with torch.autocast("cuda", dtype=torch.float16):
        probs = torch.sigmoid(model(x))
        with torch.autocast("cuda", enabled=False):
            inner = F.binary_cross_entropy(probs.float(), y)
    loss = inner + 0.1 * F.binary_cross_entropy(probs.float(), y)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
