import torch
from torch import nn

net = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 1)).cuda()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
grad_scaler = torch.amp.GradScaler("cuda", init_scale=2.0 ** 14)
max_norm = 5.0

for it in range(6):
    x = torch.randn(16, 12).cuda()
    target = x.sum(dim=1, keepdim=True)
    with torch.autocast(device_type="cuda", dtype=torch.float16):
        loss = nn.functional.smooth_l1_loss(net(x), target)
    opt.zero_grad(set_to_none=True)
    grad_scaler.scale(loss).backward()
    nn.utils.clip_grad_value_(net.parameters(), max_norm)
    grad_scaler.unscale_(opt)
    grad_scaler.step(opt)
    grad_scaler.update()
