import torch
from torch import nn


class Conv2Plus1D(nn.Sequential):
    def __init__(self, in_planes, out_planes, midplanes, stride=1):
        super().__init__(
            nn.Conv3d(in_planes, midplanes, (1, 3, 3), (1, stride, stride), (0, 1, 1), bias=False),
            nn.BatchNorm3d(midplanes),
            nn.ReLU(inplace=True),
            nn.Conv3d(midplanes, out_planes, (3, 1, 1), (stride, 1, 1), (1, 0, 0), bias=False),
        )


class VideoNet(nn.Module):
    def __init__(self, classes, width=8):
        super().__init__()
        self.stem = Conv2Plus1D(3, width, width)
        self.stage1 = nn.Sequential(nn.BatchNorm3d(width), nn.ReLU(), Conv2Plus1D(width, 2 * width, width, stride=2))
        self.stage2 = nn.Sequential(nn.BatchNorm3d(2 * width), nn.ReLU(), Conv2Plus1D(2 * width, 4 * width, 2 * width, stride=2))
        self.out_features = 4 * width
        self.fc = nn.Linear(self.out_features, classes)

    def extract(self, x):
        x = self.stem(x)
        x = self.stage1(x)
        return self.stage2(x)

    def forward(self, x):
        maps = self.extract(x)
        pooled = maps.mean(dim=(-3, -2, -1))
        return self.fc(pooled)


def create_model(name, **kwargs):
    builders = {"video": VideoNet, "video_wide": lambda **k: VideoNet(width=12, **k)}
    return builders[name](**kwargs)
