# Two generators and two judges, three optimizers: what one made is told from by another later.
import itertools

import torch
import torch.nn as nn


class ResidualBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.block = nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(c, c, 3), nn.InstanceNorm2d(c), nn.ReLU(inplace=True), nn.ReflectionPad2d(1), nn.Conv2d(c, c, 3), nn.InstanceNorm2d(c))

    def forward(self, x):
        return x + self.block(x)


class GeneratorResNet(nn.Module):
    def __init__(self, channels=3, blocks=2, out=8):
        super().__init__()
        model = [nn.ReflectionPad2d(channels), nn.Conv2d(channels, out, 7), nn.InstanceNorm2d(out), nn.ReLU(inplace=True)]
        inp = out
        for _ in range(2):
            out *= 2
            model += [nn.Conv2d(inp, out, 3, stride=2, padding=1), nn.InstanceNorm2d(out), nn.ReLU(inplace=True)]
            inp = out
        for _ in range(blocks):
            model += [ResidualBlock(out)]
        for _ in range(2):
            out //= 2
            model += [nn.Upsample(scale_factor=2), nn.Conv2d(inp, out, 3, stride=1, padding=1), nn.InstanceNorm2d(out), nn.ReLU(inplace=True)]
            inp = out
        model += [nn.ReflectionPad2d(channels), nn.Conv2d(out, channels, 7), nn.Tanh()]
        self.model = nn.Sequential(*model)

    def forward(self, x):
        return self.model(x)


class Discriminator(nn.Module):
    def __init__(self, shape):
        super().__init__()
        c, h, w = shape
        self.output_shape = (1, h // 2 ** 2, w // 2 ** 2)

        def block(i, o, normalize=True):
            layers = [nn.Conv2d(i, o, 4, stride=2, padding=1)]
            if normalize:
                layers.append(nn.InstanceNorm2d(o))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(*block(c, 8, normalize=False), *block(8, 16), nn.ZeroPad2d((1, 0, 1, 0)), nn.Conv2d(16, 1, 4, padding=1))

    def forward(self, img):
        return self.model(img)


criterion_GAN, criterion_cycle, criterion_identity = nn.MSELoss(), nn.L1Loss(), nn.L1Loss()
shape = (3, 32, 32)
G_AB, G_BA = GeneratorResNet(), GeneratorResNet()
D_A, D_B = Discriminator(shape), Discriminator(shape)
optimizer_G = torch.optim.Adam(itertools.chain(G_AB.parameters(), G_BA.parameters()), lr=2e-4, betas=(0.5, 0.999))
optimizer_D_A = torch.optim.Adam(D_A.parameters(), lr=2e-4)
optimizer_D_B = torch.optim.RMSprop(D_B.parameters(), lr=2e-4, centered=True)
for i in range(2):
    real_A, real_B = torch.randn(2, *shape), torch.randn(2, *shape)
    valid = torch.ones((real_A.size(0), *D_A.output_shape))
    fake = torch.zeros((real_A.size(0), *D_A.output_shape))
    G_AB.train()
    G_BA.train()
    optimizer_G.zero_grad()
    loss_identity = (criterion_identity(G_BA(real_A), real_A) + criterion_identity(G_AB(real_B), real_B)) / 2
    fake_B = G_AB(real_A)
    loss_GAN_AB = criterion_GAN(D_B(fake_B), valid)
    fake_A = G_BA(real_B)
    loss_GAN_BA = criterion_GAN(D_A(fake_A), valid)
    loss_GAN = (loss_GAN_AB + loss_GAN_BA) / 2
    loss_cycle = (criterion_cycle(G_BA(fake_B), real_A) + criterion_cycle(G_AB(fake_A), real_B)) / 2
    loss_G = loss_GAN + 10.0 * loss_cycle + 5.0 * loss_identity
    loss_G.backward()
    optimizer_G.step()
    optimizer_D_A.zero_grad()
    loss_D_A = (criterion_GAN(D_A(real_A), valid) + criterion_GAN(D_A(fake_A.detach()), fake)) / 2
    loss_D_A.backward()
    optimizer_D_A.step()
    optimizer_D_B.zero_grad()
    loss_D_B = (criterion_GAN(D_B(real_B), valid) + criterion_GAN(D_B(fake_B.detach()), fake)) / 2
    loss_D_B.backward()
    optimizer_D_B.step()
