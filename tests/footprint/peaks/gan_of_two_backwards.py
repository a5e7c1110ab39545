# A GAN whose discriminator has a backward for each kind of image, the second one while the generator's graph waits for its own.
import torch
from torch import nn

generator = nn.Sequential(nn.ConvTranspose2d(32, 64, 4, 1, 0, bias=False), nn.BatchNorm2d(64), nn.ReLU(True), nn.ConvTranspose2d(64, 32, 4, 2, 1, bias=False),
                          nn.BatchNorm2d(32), nn.ReLU(True), nn.ConvTranspose2d(32, 16, 4, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(True),
                          nn.ConvTranspose2d(16, 3, 4, 2, 1, bias=False), nn.Tanh())
discriminator = nn.Sequential(nn.Conv2d(3, 16, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True), nn.Conv2d(16, 32, 4, 2, 1, bias=False), nn.BatchNorm2d(32),
                              nn.LeakyReLU(0.2, inplace=True), nn.Conv2d(32, 64, 4, 2, 1, bias=False), nn.BatchNorm2d(64), nn.LeakyReLU(0.2, inplace=True),
                              nn.Conv2d(64, 1, 4, 1, 0, bias=False), nn.Sigmoid())
bce = nn.BCELoss()
of_discriminator, of_generator = torch.optim.Adam(discriminator.parameters()), torch.optim.Adam(generator.parameters())
for _ in range(4):
    discriminator.zero_grad()
    images = torch.rand(32, 3, 32, 32)
    labels = torch.full((32,), 1.0)
    output = discriminator(images).view(-1)
    of_real = bce(output, labels)
    of_real.backward()
    made = generator(torch.randn(32, 32, 1, 1))
    labels.fill_(0)
    output = discriminator(made.detach()).view(-1)
    of_made = bce(output, labels)
    of_made.backward()
    both = of_real + of_made
    of_discriminator.step()
    generator.zero_grad()
    labels.fill_(1)
    output = discriminator(made).view(-1)
    of_generator_loss = bce(output, labels)
    of_generator_loss.backward()
    of_generator.step()
