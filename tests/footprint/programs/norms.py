"""Norms that hold nothing, or count what they saw, and convolutions that put around their input what lies in it."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.mirrored = nn.Conv2d(channels, channels, 3, padding=1, padding_mode="reflect")
        self.wound = nn.Conv2d(channels, channels, 3, padding="same", padding_mode="circular")
        self.plain = nn.GroupNorm(2, channels, affine=False)
        self.each = nn.InstanceNorm2d(channels)
        self.counted = nn.InstanceNorm2d(channels, affine=True, track_running_stats=True)
        self.across = nn.LocalResponseNorm(3)

    def forward(self, x):
        x = torch.nn.functional.silu(self.plain(self.mirrored(x)))
        x = x + self.counted(self.wound(self.each(x)))
        return self.across(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.RMSNorm(12)
        self.blocks = nn.Sequential(*[Block(4) for _ in range(2)])
        self.whole = nn.LayerNorm([4, 10, 12], elementwise_affine=False)
        self.head = nn.Linear(480, 3)

    def forward(self, x):
        return self.head(self.whole(self.blocks(self.scale(x))).flatten(1))


net = Net()
optimizer = torch.optim.ASGD(net.parameters())
loss = nn.functional.cross_entropy(net(torch.randn(5, 4, 10, 12)), torch.randint(0, 3, (5,)))
loss.backward()
optimizer.step()
