# YOLO-style detection layer with anchors; decodes boxes on the grid and flattens all scales.
import torch
from torch import nn


class ConvBlock(nn.Module):
    def __init__(self, cin, cout, k=3, s=1):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, k, s, k // 2, bias=False)
        self.bn = nn.BatchNorm2d(cout)
        self.act = nn.SiLU()

    def forward(self, x):
        return self.act(self.bn(self.conv(x)))


class Detect(nn.Module):
    stride = (8, 16)

    def __init__(self, nc, anchors, ch):
        super().__init__()
        self.nc = nc
        self.no = nc + 5
        self.nl = len(anchors)
        self.na = len(anchors[0])
        table = torch.tensor(anchors).float().view(self.nl, -1, 2)
        self.register_buffer("anchors", table)
        self.m = nn.ModuleList(nn.Conv2d(x, self.no * self.na, 1) for x in ch)

    def make_grid(self, nx, ny, i):
        yv, xv = torch.meshgrid(torch.arange(ny), torch.arange(nx), indexing="ij")
        grid = torch.stack((xv, yv), 2).expand((1, self.na, ny, nx, 2)).float()
        anchor_grid = self.anchors[i].view((1, self.na, 1, 1, 2)).expand((1, self.na, ny, nx, 2))
        return grid, anchor_grid

    def forward(self, features):
        raw = []
        decoded = []
        for i in range(self.nl):
            out = self.m[i](features[i])
            bs, _, ny, nx = out.shape
            out = out.view(bs, self.na, self.no, ny, nx).permute(0, 1, 3, 4, 2).contiguous()
            raw.append(out)
            if not self.training:
                grid, anchor_grid = self.make_grid(nx, ny, i)
                xy, wh, conf = out.sigmoid().split((2, 2, self.nc + 1), 4)
                xy = (xy * 2 - 0.5 + grid) * self.stride[i]
                wh = (wh * 2) ** 2 * anchor_grid
                y = torch.cat((xy, wh, conf), 4)
                decoded.append(y.view(bs, -1, self.no))
        return raw if self.training else (torch.cat(decoded, 1), raw)


class TinyYolo(nn.Module):
    def __init__(self, nc=3, anchors=((10, 13, 16, 30, 33, 23), (30, 61, 62, 45, 59, 119)), width=8):
        super().__init__()
        self.stem = nn.Sequential(ConvBlock(3, width, 3, 2), ConvBlock(width, 2 * width, 3, 2))
        self.p3 = ConvBlock(2 * width, 4 * width, 3, 2)
        self.p4 = ConvBlock(4 * width, 8 * width, 3, 2)
        self.up = nn.Upsample(scale_factor=2)
        self.reduce = ConvBlock(8 * width, 4 * width, 1)
        self.fuse = ConvBlock(8 * width, 4 * width)
        self.detect = Detect(nc, anchors, (4 * width, 8 * width))

    def forward(self, x):
        p3 = self.p3(self.stem(x))
        p4 = self.p4(p3)
        up = self.up(self.reduce(p4))
        fused = self.fuse(torch.cat([up, p3], dim=1))
        return self.detect([fused, p4])


def objectness_loss(raw, target_prob):
    bce = nn.BCEWithLogitsLoss()
    return sum(bce(r[..., 4], torch.full_like(r[..., 4], target_prob)) for r in raw)


torch.manual_seed(0)
model = TinyYolo()
images = torch.rand(2, 3, 64, 64)
outputs = model(images)
loss = objectness_loss(outputs, 0.1)
loss.backward()

model.eval()
with torch.no_grad():
    boxes, maps = model(images)
    scores = boxes[..., 4:5] * boxes[..., 5:]
    best, cls = scores.max(-1)
    keep = best > 0.25
    chosen = boxes[keep]
print(boxes.shape, best.shape, chosen.shape[1])
