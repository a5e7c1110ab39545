import torch
from torch import nn

precision = "bfloat16"
dtype = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32}[precision]
model = nn.Linear(6, 6).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda", enabled=(precision == "float16"))
grad_clip = 1.0
for step in range(4):
    with torch.autocast("cuda", dtype=dtype):
        loss = model(torch.randn(4, 6, device="cuda")).pow(2).mean()
    scaler.scale(loss).backward()
    if scaler.is_enabled():
        scaler.unscale_(optimizer)
    if grad_clip != 0.0:
        nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
