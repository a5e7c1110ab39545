import torch
from torch import nn

G, C = nn.Linear(4, 8).cuda(), nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)).cuda()
opt_g = torch.optim.RMSprop(G.parameters(), lr=5e-5)
opt_c = torch.optim.RMSprop(C.parameters(), lr=5e-5)
scaler = torch.amp.GradScaler("cuda")
n_critic = 2
for i in range(6):
    opt_c.zero_grad(set_to_none=True)
    with torch.autocast("cuda", dtype=torch.float16):
        fake = G(torch.randn(8, 4, device="cuda"))
        loss_c = C(fake.detach()).mean() - C(torch.randn(8, 8, device="cuda")).mean()
    scaler.scale(loss_c).backward()
    scaler.step(opt_c)
    if (i + 1) % n_critic == 0:
        opt_g.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.float16):
            loss_g = -C(G(torch.randn(8, 4, device="cuda"))).mean()
        scaler.scale(loss_g).backward()
        scaler.step(opt_g)
    scaler.update()
