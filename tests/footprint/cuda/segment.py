# A U-Net in float32 whose loss is a cross entropy and a Dice term.
import torch
import torch.nn as nn
import torch.nn.functional as F


def double(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True), nn.Conv2d(o, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, c=32):
        super().__init__()
        self.d1, self.d2, self.d3, self.d4 = double(3, c), double(c, 2 * c), double(2 * c, 4 * c), double(4 * c, 8 * c)
        self.pool = nn.MaxPool2d(2)
        self.t3, self.u3 = nn.ConvTranspose2d(8 * c, 4 * c, 2, 2), double(8 * c, 4 * c)
        self.t2, self.u2 = nn.ConvTranspose2d(4 * c, 2 * c, 2, 2), double(4 * c, 2 * c)
        self.t1, self.u1 = nn.ConvTranspose2d(2 * c, c, 2, 2), double(2 * c, c)
        self.out = nn.Conv2d(c, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(self.pool(a))
        c = self.d3(self.pool(b))
        d = self.d4(self.pool(c))
        x = self.u3(torch.cat([self.t3(d), c], 1))
        x = self.u2(torch.cat([self.t2(x), b], 1))
        x = self.u1(torch.cat([self.t1(x), a], 1))
        return self.out(x)


def dice(logits, target, eps=1.0):
    p = torch.sigmoid(logits).flatten(1)
    t = target.flatten(1)
    return (1 - (2 * (p * t).sum(1) + eps) / (p.sum(1) + t.sum(1) + eps)).mean()


net = UNet().to(device="cuda")
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-4, momentum=0.9)
images = torch.randn(8, 3, 256, 256, device="cuda")
masks = (torch.rand(8, 1, 256, 256, device="cuda") > 0.5).float()
for epoch in range(3):
    pred = net(images)
    loss = F.binary_cross_entropy_with_logits(pred, masks) + dice(pred, masks)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
