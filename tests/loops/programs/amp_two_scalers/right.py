import torch
from torch import nn

generator, critic = nn.Linear(4, 6).cuda(), nn.Linear(6, 1).cuda()
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-4)
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-4)
scaler_g, scaler_c = torch.amp.GradScaler("cuda"), torch.amp.GradScaler("cuda")

for it in range(6):
    z = torch.randn(8, 4, device="cuda")
    opt_c.zero_grad()
    with torch.autocast("cuda"):
        loss_c = critic(generator(z).detach()).mean()
    scaler_c.scale(loss_c).backward()
    scaler_c.step(opt_c)
    scaler_c.update()
    if it % 2 == 0:
        opt_g.zero_grad()
        with torch.autocast("cuda"):
            loss_g = -critic(generator(z)).mean()
        scaler_g.scale(loss_g).backward()
        scaler_g.step(opt_g)
        scaler_g.update()
