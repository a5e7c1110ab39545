import torch
from torch import nn


class Generator(nn.Module):
    def __init__(self, latent=8):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(latent, 32), nn.ReLU(), nn.Linear(32, 16))

    def forward(self, z):
        return self.net(z)


generator = Generator().cuda()
critic = nn.Sequential(nn.Linear(16, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1)).cuda()
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
scaler = torch.amp.GradScaler("cuda")

for step in range(4):
    real = torch.randn(8, 16, device="cuda")
    z = torch.randn(8, 8, device="cuda")

    opt_d.zero_grad()
    with torch.autocast("cuda"):
        fake = generator(z)
        d_real = critic(real)
        d_fake = critic(fake.detach())
        loss_d = bce(d_real, torch.ones_like(d_real)) + bce(d_fake, torch.zeros_like(d_fake))
    scaler.scale(loss_d).backward()
    scaler.step(opt_d)

    opt_g.zero_grad()
    with torch.autocast("cuda"):
        d_fake = critic(fake)
        loss_g = bce(d_fake, torch.ones_like(d_fake))
    loss_g.backward()
    scaler.step(opt_g)
    scaler.update()
