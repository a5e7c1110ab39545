"""U-Net with a ModuleList encoder and decoder, type hints everywhere, configured by a dataclass."""
from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn


@dataclass
class UNetConfig:
    in_channels: int = 1
    out_channels: int = 3
    features: list[int] = field(default_factory=lambda: [8, 16, 32])
    dropout: float = 0.0


class ConvBlock(nn.Module):
    def __init__(self, cin: int, cout: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, padding="same")
        self.conv2 = nn.Conv2d(cout, cout, 3, padding="same")
        self.norm = nn.InstanceNorm2d(cout)
        self.act = nn.LeakyReLU(0.1)
        self.drop = nn.Dropout2d(dropout)

    def forward(self, x: Tensor) -> Tensor:
        x = self.act(self.conv1(x))
        x = self.drop(x)
        x = self.act(self.norm(self.conv2(x)))
        return x


class UNet(nn.Module):
    def __init__(self, config: UNetConfig) -> None:
        super().__init__()
        self.config = config
        features = config.features

        self.encoder = nn.ModuleList()
        channels = config.in_channels
        for width in features:
            self.encoder.append(ConvBlock(channels, width, config.dropout))
            channels = width

        self.bottleneck = ConvBlock(channels, channels * 2)
        self.pool = nn.MaxPool2d(2, 2)

        self.upsamplers = nn.ModuleList()
        self.decoder = nn.ModuleList()
        for width in reversed(features):
            self.upsamplers.append(nn.ConvTranspose2d(width * 2, width, kernel_size=2, stride=2))
            self.decoder.append(ConvBlock(width * 2, width))

        self.head = nn.Conv2d(features[0], config.out_channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        skips: list[Tensor] = []
        for block in self.encoder:
            x = block(x)
            skips.append(x)
            x = self.pool(x)

        x = self.bottleneck(x)

        for up, block, skip in zip(self.upsamplers, self.decoder, reversed(skips)):
            x = up(x)
            x = torch.cat((skip, x), dim=1)
            x = block(x)

        return self.head(x)


def segmentation_loss(logits: Tensor, target: Tensor, weight: Tensor | None = None) -> Tensor:
    return nn.functional.cross_entropy(logits, target, weight=weight)


def main() -> None:
    torch.manual_seed(0)
    config = UNetConfig(dropout=0.1)
    model = UNet(config)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    images = torch.randn(2, config.in_channels, 32, 48)
    masks = torch.randint(0, config.out_channels, (2, 32, 48))
    class_weight = torch.tensor([0.2, 0.4, 0.4])

    for _ in range(2):
        optimizer.zero_grad()
        logits = model(images)
        loss = segmentation_loss(logits, masks, class_weight)
        loss.backward()
        optimizer.step()

    with torch.no_grad():
        model.eval()
        predicted = model(images).softmax(dim=1).argmax(dim=1)
        overlap = (predicted == masks).float().mean(dim=(1, 2))
    print(loss.item(), overlap.tolist())


if __name__ == "__main__":
    main()
