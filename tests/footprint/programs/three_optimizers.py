# Three optimizers, of which two have the same parameters: each keeps state of those that have a gradient where it steps.
import torch
from torch import nn

generator, discriminator = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 32)), nn.ModuleList([nn.Sequential(nn.Linear(32, 48), nn.LeakyReLU(0.2)), nn.Linear(48, 1), nn.Linear(48, 5)])
of_generator, of_discriminator = torch.optim.Adam(generator.parameters()), torch.optim.Adam(discriminator.parameters())
of_both = torch.optim.Adam([*generator.parameters(), *discriminator.parameters()])
trunk, real, code = discriminator
for _ in range(2):
    of_generator.zero_grad()
    generator_loss = real(trunk(generator(torch.randn(16, 8)))).square().mean()
    generator_loss.backward()
    of_generator.step()
    of_discriminator.zero_grad()
    loss = (real(trunk(torch.randn(16, 32))) - 1).square().mean()
    loss.backward()
    of_discriminator.step()
    of_both.zero_grad()
    code_loss = code(trunk(generator(torch.randn(16, 8)))).square().mean()
    code_loss.backward()
    of_both.step()
