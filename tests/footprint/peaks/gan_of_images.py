# A GAN whose generator upsamples and writes in place: both are trained in a round, the one with the other's graph in front of it.
import torch
from torch import nn


def block(narrow, wide):
    return [nn.Conv2d(narrow, wide, 3, 2, 1), nn.LeakyReLU(0.2, inplace=True), nn.Dropout2d(0.25), nn.BatchNorm2d(wide, 0.8)]


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(50, 64 * 8 * 8)
        self.layers = nn.Sequential(nn.BatchNorm2d(64), nn.Upsample(scale_factor=2), nn.Conv2d(64, 64, 3, padding=1), nn.BatchNorm2d(64, 0.8),
                                    nn.LeakyReLU(0.2, inplace=True), nn.Upsample(scale_factor=2), nn.Conv2d(64, 32, 3, padding=1), nn.BatchNorm2d(32, 0.8),
                                    nn.LeakyReLU(0.2, inplace=True), nn.Conv2d(32, 1, 3, padding=1), nn.Tanh())

    def forward(self, z):
        return self.layers(self.first(z).view(-1, 64, 8, 8))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*block(1, 16), *block(16, 32), *block(32, 64))
        self.real = nn.Sequential(nn.Linear(64 * 4 * 4, 1), nn.Sigmoid())
        self.kind = nn.Sequential(nn.Linear(64 * 4 * 4, 10), nn.Softmax(dim=1))

    def forward(self, images):
        features = self.layers(images).flatten(1)
        return self.real(features), self.kind(features)


generator, discriminator = Generator(), Discriminator()
of_generator, of_discriminator = torch.optim.Adam(generator.parameters()), torch.optim.Adam(discriminator.parameters())
bce, ce = nn.BCELoss(), nn.CrossEntropyLoss()
for _ in range(4):
    images, kinds = torch.rand(32, 1, 32, 32), torch.randint(0, 10, (32,))
    valid, fake = torch.ones(32, 1), torch.zeros(32, 1)
    of_generator.zero_grad()
    made = generator(torch.randn(32, 50))
    validity, _ = discriminator(made)
    generator_loss = bce(validity, valid)
    generator_loss.backward()
    of_generator.step()
    of_discriminator.zero_grad()
    real, real_kind = discriminator(images)
    seen, seen_kind = discriminator(made.detach())
    loss = (bce(real, valid) + ce(real_kind, kinds) + bce(seen, fake) + ce(seen_kind, kinds)) / 2
    loss.backward()
    of_discriminator.step()
