# Layers whose sizes are found at run time: lazy modules, a dry run to size the head, layers made on first use.
import torch
import torch.nn as nn


class LazyNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.net = nn.Sequential(
            nn.LazyConv2d(8, 3),
            nn.ReLU(),
            nn.LazyConv2d(16, 3, stride=2),
            nn.LazyBatchNorm2d(),
            nn.Flatten(),
            nn.LazyLinear(classes),
        )

    def forward(self, x):
        return self.net(x)


class DryRunNet(nn.Module):
    def __init__(self, input_shape, classes):
        super().__init__()
        c, h, w = input_shape
        self.conv = nn.Sequential(
            nn.Conv2d(c, 8, 5, stride=2), nn.ReLU(),
            nn.Conv2d(8, 12, 3, stride=2), nn.ReLU(),
        )
        features = self._count(input_shape)
        self.fc = nn.Linear(features, classes)

    def _count(self, shape):
        with torch.no_grad():
            out = self.conv(torch.zeros(1, *shape))
        return out.numel()

    def forward(self, x):
        x = self.conv(x)
        x = x.view(x.size(0), -1)
        return self.fc(x)


class FirstUse(nn.Module):
    """Builds its projection when it sees the first input."""

    def __init__(self, out_features):
        super().__init__()
        self.out_features = out_features
        self.projection = None

    def forward(self, x):
        if self.projection is None:
            self.projection = nn.Linear(x.shape[-1], self.out_features)
        return self.projection(x)


class Growing(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.layers = nn.ModuleList([nn.Linear(width, width)])

    def grow(self):
        self.layers.append(nn.Linear(self.width, self.width))
        return self

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x) + (x if i else 0)
        return x


torch.manual_seed(0)
images = torch.randn(3, 2, 20, 26)
lazy = LazyNet(5)
first = lazy(images)
smaller = lazy(images[:2])

dry = DryRunNet((2, 20, 26), 4)
second = dry(images)

late = FirstUse(7)
third = late(images)
again = late(torch.randn(11, 26))

growing = Growing(6)
before = growing(torch.randn(2, 6))
growing.grow().grow()
after = growing(torch.randn(2, 6))

chunks = torch.arange(10).float().split(3)
tail = chunks[-1]
nonzero = torch.nonzero(images[0, 0] > 0)
selected = images[0, 0][images[0, 0] > 0]
unique, counts = torch.unique(torch.tensor([3, 1, 3, 2]), return_counts=True)
empty = torch.empty(0, 6)
joined = torch.cat([empty, torch.ones(2, 6)])
through = growing(empty)
print(first.shape, smaller.shape, second.shape, third.shape, again.shape, before.shape, after.shape)
print(tail.shape, nonzero.shape[1], selected.dim(), unique, counts, joined.shape, through.shape)
