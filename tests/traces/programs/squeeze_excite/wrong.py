import torch
import torch.nn as nn


class SELayer(nn.Module):
    def __init__(self, channel, reduction=4):
        super(SELayer, self).__init__()
        self.avg_pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Sequential(
            nn.Linear(channel, channel // reduction, bias=False),
            nn.ReLU(inplace=True),
            nn.Linear(channel // reduction, channel, bias=False),
            nn.Sigmoid(),
        )

    def forward(self, x):
        b, c, _, _ = x.size()
        y = self.avg_pool(x).view(b, c)
        y = self.fc(y)
        return x * y


class SpatialGate(nn.Module):
    def __init__(self, kernel_size=7):
        super(SpatialGate, self).__init__()
        self.conv = nn.Conv2d(2, 1, kernel_size, padding=kernel_size // 2)

    def forward(self, x):
        mean = x.mean(dim=1, keepdim=True)
        top, _ = x.max(dim=1, keepdim=True)
        gate = torch.sigmoid(self.conv(torch.cat([mean, top], dim=1)))
        return x * gate


class AttentionBlock(nn.Module):
    def __init__(self, in_ch, out_ch):
        super(AttentionBlock, self).__init__()
        self.body = nn.Sequential(
            nn.Conv2d(in_ch, out_ch, 3, padding=1),
            nn.GroupNorm(4, out_ch),
            nn.SiLU(),
        )
        self.channel = SELayer(out_ch)
        self.spatial = SpatialGate()
        self.skip = nn.Conv2d(in_ch, out_ch, 1) if in_ch != out_ch else nn.Identity()

    def forward(self, x):
        h = self.body(x)
        h = self.channel(h)
        h = self.spatial(h)
        return h + self.skip(x)


class Net(nn.Module):
    def __init__(self, widths=(16, 32, 32), num_classes=4):
        super(Net, self).__init__()
        blocks = []
        previous = 3
        for width in widths:
            blocks += [AttentionBlock(previous, width), nn.AvgPool2d(2)]
            previous = width
        self.trunk = nn.Sequential(*blocks)
        self.head = nn.Linear(previous, num_classes)

    def forward(self, x):
        features = self.trunk(x)
        pooled = features.flatten(2).mean(-1)
        return self.head(pooled)


torch.manual_seed(3)
net = Net()
batch = torch.randn(5, 3, 24, 24)
scores = net(batch)
best = scores.argmax(-1)
print(scores.size(), best)
