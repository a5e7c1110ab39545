"""WGAN with gradient penalty, conditioned on a class."""
import torch
import torch.nn as nn
from torch import autograd, optim


class Generator(nn.Module):
    def __init__(self, z_dim, classes, channels=1, width=16):
        super().__init__()
        self.embed = nn.Embedding(classes, z_dim)
        def block(i, o, k, s, p):
            return nn.Sequential(nn.ConvTranspose2d(i, o, k, s, p, bias=False), nn.BatchNorm2d(o), nn.ReLU())
        self.net = nn.Sequential(block(z_dim * 2, width * 4, 4, 1, 0), block(width * 4, width * 2, 4, 2, 1), block(width * 2, width, 4, 2, 1),
                                 nn.ConvTranspose2d(width, channels, 4, 2, 1), nn.Tanh())

    def forward(self, z, y):
        e = self.embed(y).unsqueeze(2).unsqueeze(3)
        return self.net(torch.cat([z, e], dim=1))


class Critic(nn.Module):
    def __init__(self, classes, size, channels=1, width=16):
        super().__init__()
        self.size = size
        self.embed = nn.Embedding(classes, size * size)
        self.net = nn.Sequential(
            nn.Conv2d(channels + 1, width, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Conv2d(width, width * 2, 4, 2, 1, bias=False), nn.InstanceNorm2d(width * 2, affine=True), nn.LeakyReLU(0.2),
            nn.Conv2d(width * 2, width * 4, 4, 2, 1, bias=False), nn.InstanceNorm2d(width * 4, affine=True), nn.LeakyReLU(0.2),
            nn.Conv2d(width * 4, 1, 4, 1, 0))

    def forward(self, x, y):
        e = self.embed(y).view(y.shape[0], 1, self.size, self.size)
        return self.net(torch.cat([x, e], dim=1))


def gradient_penalty(critic, labels, real, fake):
    b, c, h, w = real.shape
    alpha = torch.rand((b, 1, 1, 1)).repeat(1, c, h, w)
    mixed = (real * alpha + fake.detach() * (1 - alpha)).requires_grad_(True)
    scores = critic(mixed, labels)
    gradient = autograd.grad(inputs=mixed, outputs=scores, grad_outputs=torch.ones_like(scores), create_graph=True, retain_graph=True)[0]
    gradient = gradient.view(gradient.shape[0], -1)
    return torch.mean((gradient.norm(2, dim=1) - 1) ** 2)


torch.manual_seed(0)
Z, CLASSES, SIZE, BATCH = 12, 4, 32, 4
gen, critic = Generator(Z, CLASSES), Critic(CLASSES, SIZE)
opt_g = optim.Adam(gen.parameters(), lr=1e-4, betas=(0.0, 0.9))
opt_c = optim.Adam(critic.parameters(), lr=1e-4, betas=(0.0, 0.9))
for step in range(2):
    real, labels = torch.randn(BATCH, 1, SIZE, SIZE), torch.randint(0, CLASSES, (BATCH,))
    for _ in range(2):
        noise = torch.randn(BATCH, Z, 1, 1)
        fake = gen(noise, labels)
        real_score = critic(real, labels).reshape(-1)
        fake_score = critic(fake.detach(), labels).reshape(-1)
        loss_c = fake_score.mean() - real_score.mean() + 10 * gradient_penalty(critic, labels, real, fake)
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
    loss_g = -critic(gen(torch.randn(BATCH, Z, 1, 1), labels), labels).reshape(-1).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
print(loss_c.item(), loss_g.item())
