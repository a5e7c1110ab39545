"""A reduced GoogLeNet: inception modules with four branches, and an auxiliary classifier."""
from typing import Any, NamedTuple, Optional

import torch
import torch.nn as nn
import torch.nn.functional as F


class Outputs(NamedTuple):
    logits: torch.Tensor
    aux: Optional[torch.Tensor]


class BasicConv2d(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, **kwargs: Any) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, bias=False, **kwargs)
        self.bn = nn.BatchNorm2d(out_channels, eps=0.001)

    def forward(self, x):
        x = self.conv(x)
        x = self.bn(x)
        return F.relu(x, inplace=True)


class Inception(nn.Module):
    def __init__(self, in_channels, ch1x1, ch3x3red, ch3x3, ch5x5red, ch5x5, pool_proj):
        super().__init__()
        self.branch1 = BasicConv2d(in_channels, ch1x1, kernel_size=1)
        self.branch2 = nn.Sequential(
            BasicConv2d(in_channels, ch3x3red, kernel_size=1),
            BasicConv2d(ch3x3red, ch3x3, kernel_size=3, padding=1),
        )
        self.branch3 = nn.Sequential(
            BasicConv2d(in_channels, ch5x5red, kernel_size=1),
            BasicConv2d(ch5x5red, ch5x5, kernel_size=5, padding=1),
        )
        self.branch4 = nn.Sequential(
            nn.MaxPool2d(kernel_size=3, stride=1, padding=1, ceil_mode=True),
            BasicConv2d(in_channels, pool_proj, kernel_size=1),
        )

    def _forward(self, x):
        branch1 = self.branch1(x)
        branch2 = self.branch2(x)
        branch3 = self.branch3(x)
        branch4 = self.branch4(x)
        return [branch1, branch2, branch3, branch4]

    def forward(self, x):
        outputs = self._forward(x)
        return torch.cat(outputs, 1)


class AuxHead(nn.Module):
    def __init__(self, in_channels, num_classes):
        super().__init__()
        self.conv = BasicConv2d(in_channels, 16, kernel_size=1)
        self.fc1 = nn.Linear(16 * 4 * 4, 32)
        self.fc2 = nn.Linear(32, num_classes)

    def forward(self, x):
        x = F.adaptive_avg_pool2d(x, (4, 4))
        x = self.conv(x)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return self.fc2(x)


class TinyGoogLeNet(nn.Module):
    def __init__(self, num_classes=10, aux_logits=True):
        super().__init__()
        self.aux_logits = aux_logits
        self.conv1 = BasicConv2d(3, 16, kernel_size=7, stride=2, padding=3)
        self.maxpool1 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        self.inception3a = Inception(16, 8, 8, 16, 4, 8, 8)
        self.inception3b = Inception(40, 16, 16, 24, 4, 12, 8)
        self.maxpool2 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        self.inception4a = Inception(60, 24, 12, 26, 4, 6, 8)
        self.aux = AuxHead(60, num_classes) if aux_logits else None
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(64, num_classes)

    def forward(self, x):
        x = self.maxpool1(self.conv1(x))
        x = self.inception3a(x)
        x = self.inception3b(x)
        aux = self.aux(x) if self.training and self.aux is not None else None
        x = self.maxpool2(x)
        x = self.inception4a(x)
        x = self.avgpool(x)
        x = torch.flatten(x, 1)
        x = self.fc(x)
        return Outputs(x, aux)


if __name__ == "__main__":
    torch.manual_seed(0)
    net = TinyGoogLeNet(num_classes=6)
    pixels = torch.randn(3, 3, 64, 64)
    target = torch.tensor([1, 5, 0])
    logits, aux = net(pixels)
    main_loss = F.cross_entropy(logits, target)
    aux_loss = F.cross_entropy(aux, target)
    loss = main_loss + 0.3 * aux_loss
    loss.backward()
    print(loss.item())
