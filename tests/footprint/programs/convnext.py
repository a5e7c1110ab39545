# Channels last by permuting, a scale for each layer, Rprop.
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dwconv = nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.pwconv1 = nn.Linear(dim, 4 * dim)
        self.act = nn.GELU()
        self.pwconv2 = nn.Linear(4 * dim, dim)
        self.gamma = nn.Parameter(1e-6 * torch.ones(dim))

    def forward(self, x):
        residual = x
        x = self.dwconv(x)
        x = x.permute(0, 2, 3, 1)
        x = self.pwconv2(self.act(self.pwconv1(self.norm(x))))
        x = self.gamma * x
        return residual + x.permute(0, 3, 1, 2)


model = nn.Sequential(nn.Conv2d(3, 24, 4, stride=4), Block(24), Block(24), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 7))
optimizer = torch.optim.Rprop(model.parameters())
x, y = torch.randn(4, 3, 64, 64), torch.randint(0, 7, (4,))
loss = nn.functional.cross_entropy(model(x), y)
loss.backward()
optimizer.step()
