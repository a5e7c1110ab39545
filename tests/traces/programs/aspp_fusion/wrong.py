"""DeepLab-like head: atrous pyramid with image pooling, fused with low-level features."""
from typing import Dict, List

import torch
from torch import nn
from torch.nn import functional as F


class ASPPConv(nn.Sequential):
    def __init__(self, in_channels: int, out_channels: int, dilation: int) -> None:
        modules = [
            nn.Conv2d(in_channels, out_channels, 3, padding=dilation, dilation=dilation, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(),
        ]
        super().__init__(*modules)


class ASPPPooling(nn.Sequential):
    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(in_channels, out_channels, 1, bias=False),
            nn.ReLU(),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        size = x.shape[-2:]
        for mod in self:
            x = mod(x)
        return F.interpolate(x, size=size, mode="bilinear", align_corners=False)


class ASPP(nn.Module):
    def __init__(self, in_channels: int, atrous_rates: List[int], out_channels: int = 24) -> None:
        super().__init__()
        modules = [nn.Sequential(nn.Conv2d(in_channels, out_channels, 1, bias=False), nn.BatchNorm2d(out_channels), nn.ReLU())]
        for rate in tuple(atrous_rates):
            modules.append(ASPPConv(in_channels, out_channels, rate))
        modules.append(ASPPPooling(in_channels, out_channels))
        self.convs = nn.ModuleList(modules)
        self.project = nn.Sequential(
            nn.Conv2d(len(self.convs) * out_channels, out_channels, 1, bias=False), nn.BatchNorm2d(out_channels), nn.ReLU())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        _res = []
        for conv in self.convs:
            _res.append(conv(x))
        res = torch.cat(_res, dim=1)
        return self.project(res)


class DeepLabHead(nn.Module):
    def __init__(self, low_channels: int, high_channels: int, classes: int) -> None:
        super().__init__()
        self.reduce = nn.Conv2d(low_channels, 8, 1)
        self.aspp = ASPP(high_channels, [2, 4, 6])
        self.classifier = nn.Sequential(nn.Conv2d(32, 24, 3, padding=1), nn.ReLU(), nn.Conv2d(24, classes, 1))

    def forward(self, features: Dict[str, torch.Tensor]) -> torch.Tensor:
        low = self.reduce(features["low"])
        high = self.aspp(features["out"])
        high = F.interpolate(high, scale_factor=2, mode="bilinear", align_corners=False)
        fused = torch.cat([low, high], dim=1)
        return self.classifier(fused)


class Backbone(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 12, 3, stride=2, padding=1), nn.ReLU())
        self.deep = nn.Sequential(nn.Conv2d(12, 20, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(20, 20, 3, stride=2, padding=1))

    def forward(self, x: torch.Tensor) -> Dict[str, torch.Tensor]:
        low = self.stem(x)
        return {"low": low, "out": self.deep(low)}


if __name__ == "__main__":
    torch.manual_seed(0)
    backbone, head = Backbone(), DeepLabHead(12, 20, classes=5)
    image = torch.randn(2, 3, 48, 40)
    scores = head(backbone(image))
    full = F.interpolate(scores, size=image.shape[-2:], mode="bilinear", align_corners=False)
    target = torch.randint(0, 5, (2, 48, 40))
    loss = F.cross_entropy(full, target)
    loss.backward()
    print(scores.shape, loss.item())
