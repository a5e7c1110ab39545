"""A U-Net for binary masks, with the usual DoubleConv / Down / Up pieces."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class DoubleConv(nn.Module):
    """(convolution => [BN] => ReLU) * 2"""

    def __init__(self, in_channels, out_channels, mid_channels=None):
        super().__init__()
        if not mid_channels:
            mid_channels = out_channels
        self.double_conv = nn.Sequential(
            nn.Conv2d(in_channels, mid_channels, kernel_size=3, padding=1),
            nn.BatchNorm2d(mid_channels),
            nn.ReLU(inplace=True),
            nn.Conv2d(mid_channels, out_channels, kernel_size=3, padding=1),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(inplace=True),
        )

    def forward(self, x):
        return self.double_conv(x)


class Down(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), DoubleConv(in_channels, out_channels))

    def forward(self, x):
        return self.maxpool_conv(x)


class Up(nn.Module):
    def __init__(self, in_channels, out_channels, bilinear=True):
        super().__init__()
        if bilinear:
            self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
            self.conv = DoubleConv(in_channels, out_channels, in_channels // 2)
        else:
            self.up = nn.ConvTranspose2d(in_channels, in_channels // 2, kernel_size=2, stride=2)
            self.conv = DoubleConv(in_channels, out_channels)

    def forward(self, x1, x2):
        x1 = self.up(x1)
        x = torch.cat([x2, x1], dim=1)
        return self.conv(x)


class UNet(nn.Module):
    def __init__(self, n_channels, n_classes, bilinear=False, base=8):
        super().__init__()
        self.n_channels = n_channels
        self.n_classes = n_classes
        self.inc = DoubleConv(n_channels, base)
        self.down1 = Down(base, base * 2)
        self.down2 = Down(base * 2, base * 4)
        factor = 2 if bilinear else 1
        self.down3 = Down(base * 4, base * 8 // factor)
        self.up1 = Up(base * 8, base * 4 // factor, bilinear)
        self.up2 = Up(base * 4, base * 2 // factor, bilinear)
        self.up3 = Up(base * 2, base, bilinear)
        self.outc = nn.Conv2d(base, n_classes, kernel_size=1)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        x4 = self.down3(x3)
        x = self.up1(x4, x3)
        x = self.up2(x, x2)
        x = self.up3(x, x1)
        logits = self.outc(x)
        return logits


def dice_coefficient(prediction, target, epsilon=1e-6):
    inter = 2 * (prediction * target).sum(dim=(-1, -2))
    total = prediction.sum(dim=(-1, -2)) + target.sum(dim=(-1, -2))
    dice = (inter + epsilon) / (total + epsilon)
    return dice.mean()


def main():
    torch.manual_seed(0)
    image = torch.randn(2, 3, 50, 44)
    mask = (torch.rand(2, 1, 50, 44) > 0.5).float()
    model = UNet(n_channels=3, n_classes=1, bilinear=True)
    model.eval()
    with torch.no_grad():
        logits = model(image)
        probabilities = torch.sigmoid(logits)
        bce = F.binary_cross_entropy_with_logits(logits, mask)
        score = dice_coefficient((probabilities > 0.5).float(), mask)
    print(bce.item(), score.item())

    plain = UNet(3, 2, bilinear=False).eval()
    with torch.no_grad():
        two = plain(image)
        classes = two.argmax(dim=1)
    print(two.shape, classes.shape)


if __name__ == "__main__":
    main()
