import torch
from torch import nn

netG = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
netD = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
optimizerG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizerD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
criterion = nn.BCEWithLogitsLoss()

for i in range(10):
    real = torch.randn(8, 8)
    fake = netG(torch.randn(8, 4))
    optimizerD.zero_grad()
    loss_real = criterion(netD(real), torch.ones(8, 1))
    loss_fake = criterion(netD(fake.detach()), torch.zeros(8, 1))
    loss_real.backward()
    loss_fake.backward()
    optimizerD.step()
    optimizerG.zero_grad()
    loss_g = criterion(netD(fake), torch.ones(8, 1))
    loss_g.backward()
    optimizerG.step()
