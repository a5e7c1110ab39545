# A GAN of transposed convolutions: two optimizers, three backwards in each round.
import torch
import torch.nn as nn

LATENT, WIDTH, BATCH = 100, 64, 128


def grow(inputs, outputs, stride, padding):
    return [nn.ConvTranspose2d(inputs, outputs, 4, stride, padding, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)]


def shrink(inputs, outputs, normalized=True):
    layers = [nn.Conv2d(inputs, outputs, 4, 2, 1, bias=False)]
    if normalized:
        layers.append(nn.BatchNorm2d(outputs))
    return layers + [nn.LeakyReLU(0.2, inplace=True)]


widths = [8 * WIDTH, 4 * WIDTH, 2 * WIDTH, WIDTH]
layers = grow(LATENT, widths[0], 1, 0)
for inputs, outputs in zip(widths, widths[1:]):
    layers += grow(inputs, outputs, 2, 1)
painter = nn.Sequential(*layers, nn.ConvTranspose2d(WIDTH, 3, 4, 2, 1, bias=False), nn.Tanh()).cuda()

widths = widths[::-1]
layers = shrink(3, widths[0], normalized=False)
for inputs, outputs in zip(widths, widths[1:]):
    layers += shrink(inputs, outputs)
critic = nn.Sequential(*layers, nn.Conv2d(widths[-1], 1, 4, bias=False), nn.Sigmoid(), nn.Flatten(0)).cuda()

measure = nn.BCELoss()
paints = torch.optim.Adam(painter.parameters(), lr=2e-4, betas=(0.5, 0.999))
judges = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
ones, zeros = torch.ones(BATCH, device="cuda"), torch.zeros(BATCH, device="cuda")
for step in range(3):
    photos = torch.randn(BATCH, 3, 64, 64).cuda()
    critic.zero_grad()
    measure(critic(photos), ones).backward()
    made = painter(torch.randn(BATCH, LATENT, 1, 1, device="cuda"))
    measure(critic(made.detach()), zeros).backward()
    judges.step()
    painter.zero_grad()
    measure(critic(made), ones).backward()
    paints.step()
