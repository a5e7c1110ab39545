# The discriminator's step of a DCGAN: what the generator made is detached.
import torch
import torch.nn as nn


generator = nn.Sequential(
    nn.ConvTranspose2d(32, 64, 4, 1, 0, bias=False), nn.BatchNorm2d(64), nn.ReLU(True),
    nn.ConvTranspose2d(64, 32, 4, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU(True),
    nn.ConvTranspose2d(32, 3, 4, 2, 1, bias=False), nn.Tanh())
discriminator = nn.Sequential(
    nn.Conv2d(3, 32, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(32, 64, 4, 2, 1, bias=False), nn.BatchNorm2d(64), nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(64, 1, 4, 1, 0, bias=False), nn.Sigmoid())
optimizer = torch.optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))
criterion = nn.BCELoss()
noise = torch.randn(8, 32, 1, 1)
fake = generator(noise).detach()
loss = criterion(discriminator(fake).view(-1), torch.zeros(8))
loss.backward()
optimizer.step()
