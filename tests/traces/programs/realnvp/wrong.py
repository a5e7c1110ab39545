# Normalising flow on two moons: affine coupling layers with alternating masks.
import math

import torch
from torch import nn
from torch.distributions import MultivariateNormal

torch.manual_seed(0)


def two_moons(n, noise=0.05):
    half = n // 2
    t = torch.rand(half) * math.pi
    upper = torch.stack([torch.cos(t), torch.sin(t)], dim=1)
    lower = torch.stack([1 - torch.cos(t), 0.5 - torch.sin(t)], dim=1)
    points = torch.cat([upper, lower], dim=0)
    return points + noise * torch.randn_like(points)


class Coupling(nn.Module):
    def __init__(self, dim, hidden, mask):
        super().__init__()
        self.register_buffer("mask", mask)
        self.scale = nn.Sequential(nn.Linear(dim, hidden), nn.LeakyReLU(), nn.Linear(hidden, dim), nn.Tanh())
        self.shift = nn.Sequential(nn.Linear(dim, hidden), nn.LeakyReLU(), nn.Linear(hidden, dim))

    def forward(self, z):
        kept = z * self.mask
        s = self.scale(kept) * (1 - self.mask)
        t = self.shift(kept) * (1 - self.mask)
        x = kept + (1 - self.mask) * (z * torch.exp(s) + t)
        return x

    def inverse(self, x):
        kept = x * self.mask
        s = self.scale(kept) * (1 - self.mask)
        t = self.shift(kept) * (1 - self.mask)
        z = (1 - self.mask) * (x - t) * torch.exp(-s) + kept
        return z, -s.sum(dim=1)


class RealNVP(nn.Module):
    def __init__(self, dim=2, hidden=32, layers=4):
        super().__init__()
        self.dim = dim
        base = torch.tensor([0.0, 1.0]).repeat(dim)
        masks = [base if i % 2 == 0 else 1 - base for i in range(layers)]
        self.layers = nn.ModuleList([Coupling(dim, hidden, m) for m in masks])
        self.register_buffer("loc", torch.zeros(dim))
        self.register_buffer("cov", torch.eye(dim))

    @property
    def prior(self):
        return MultivariateNormal(self.loc, self.cov)

    def log_prob(self, x):
        log_det = x.new_zeros(x.shape[0])
        for layer in reversed(self.layers):
            x, ld = layer.inverse(x)
            log_det = log_det + ld
        return self.prior.log_prob(x) + log_det

    def sample(self, n):
        z = torch.randn(n, self.dim)
        for layer in self.layers:
            z = layer(z)
        return z


flow = RealNVP()
optimizer = torch.optim.Adam(flow.parameters(), lr=1e-3)
for step in range(4):
    batch = two_moons(64)
    loss = -flow.log_prob(batch).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    drawn = flow.sample(20)
    centre = drawn.mean(0)
    spread = (drawn - centre).norm(dim=1).max()
print(loss.item(), centre, spread.item())
