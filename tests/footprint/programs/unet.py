# A U-Net: what is joined on the way up is kept from the way down.
import torch
from torch import nn
from torch.nn import functional as F


class Double(nn.Sequential):
    def __init__(self, a, b):
        super().__init__(
            nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True),
            nn.Conv2d(b, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, classes=2):
        super().__init__()
        self.inc = Double(3, 16)
        self.down1 = nn.Sequential(nn.MaxPool2d(2), Double(16, 32))
        self.down2 = nn.Sequential(nn.MaxPool2d(2), Double(32, 64))
        self.up1 = nn.ConvTranspose2d(64, 32, 2, stride=2)
        self.conv1 = Double(64, 32)
        self.up2 = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        self.conv2 = Double(48, 16)
        self.out = nn.Conv2d(16, classes, 1)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        x = self.conv1(torch.cat([x2, self.up1(x3)], dim=1))
        x = self.conv2(torch.cat([x1, self.up2(x)], dim=1))
        return self.out(x)


net = UNet()
opt = torch.optim.RMSprop(net.parameters(), lr=1e-4, weight_decay=1e-8, momentum=0.9)
image = torch.randn(2, 3, 64, 48)
mask = torch.randint(0, 2, (2, 64, 48))
loss = F.cross_entropy(net(image), mask)
opt.zero_grad()
loss.backward()
opt.step()
