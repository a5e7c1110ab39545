"""A one-stage detector: anchors on a feature pyramid, matching by IoU, focal loss and box regression."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class ConvBNAct(nn.Sequential):
    def __init__(self, cin, cout, k=3, s=1):
        super().__init__(nn.Conv2d(cin, cout, k, s, padding=k // 2, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class Backbone(nn.Module):
    def __init__(self, widths=(16, 32, 64, 128)):
        super().__init__()
        stages = []
        cin = 3
        for w in widths:
            stages.append(nn.Sequential(ConvBNAct(cin, w, s=2), ConvBNAct(w, w)))
            cin = w
        self.stages = nn.ModuleList(stages)
        self.channels = list(widths[1:])

    def forward(self, x):
        feats = []
        for stage in self.stages:
            x = stage(x)
            feats.append(x)
        return feats[1:]


class FPN(nn.Module):
    def __init__(self, channels, out=32):
        super().__init__()
        self.lateral = nn.ModuleList([nn.Conv2d(c, out, 1) for c in channels])
        self.smooth = nn.ModuleList([nn.Conv2d(out, out, 3, padding=1) for _ in channels])

    def forward(self, feats):
        laterals = [l(f) for l, f in zip(self.lateral, feats)]
        for i in range(len(laterals) - 1, 0, -1):
            laterals[i - 1] = laterals[i - 1] + F.interpolate(laterals[i], size=laterals[i - 1].shape[-2:], mode="nearest")
        return [s(l) for s, l in zip(self.smooth, laterals)]


class Head(nn.Module):
    def __init__(self, channels, num_anchors, outputs):
        super().__init__()
        self.outputs = outputs
        self.tower = nn.Sequential(ConvBNAct(channels, channels), ConvBNAct(channels, channels))
        self.pred = nn.Conv2d(channels, num_anchors * outputs, 3, padding=1)

    def forward(self, feats):
        out = []
        for f in feats:
            p = self.pred(self.tower(f))
            n, _, h, w = p.shape
            p = p.view(n, -1, self.outputs, h, w).permute(0, 3, 4, 1, 2)
            out.append(p.reshape(n, -1, self.outputs))
        return torch.cat(out, dim=1)


class AnchorGenerator:
    def __init__(self, strides=(4, 8, 16), ratios=(0.5, 1.0, 2.0), scales=(1.0, 1.26)):
        self.strides, self.ratios, self.scales = strides, ratios, scales

    @property
    def per_location(self):
        return len(self.ratios) * len(self.scales)

    def base(self, stride):
        boxes = []
        for r in self.ratios:
            for s in self.scales:
                size = stride * 4 * s
                w, h = size * math.sqrt(1 / r), size * math.sqrt(r)
                boxes.append([-w / 2, -h / 2, w / 2, h / 2])
        return torch.tensor(boxes)

    def __call__(self, feats):
        anchors = []
        for f, stride in zip(feats, self.strides):
            h, w = f.shape[-2:]
            ys = (torch.arange(h) + 0.5) * stride
            xs = (torch.arange(w) + 0.5) * stride
            gy, gx = torch.meshgrid(ys, xs, indexing="ij")
            centers = torch.stack([gx, gy, gx, gy], dim=-1)
            anchors.append((centers[:, :, None, :] + self.base(stride)).reshape(-1, 4))
        return torch.cat(anchors)


def box_iou(a, b):
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    lt = torch.max(a[:, None, :2], b[None, :, :2])
    rb = torch.min(a[:, None, 2:], b[None, :, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[..., 0] * wh[..., 1]
    return inter / (area_a[:, None] + area_b[None, :] - inter)


def encode(anchors, boxes):
    aw, ah = anchors[:, 2] - anchors[:, 0], anchors[:, 3] - anchors[:, 1]
    ax, ay = (anchors[:, 0] + anchors[:, 2]) / 2, (anchors[:, 1] + anchors[:, 3]) / 2
    bw, bh = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    bx, by = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
    return torch.stack([(bx - ax) / aw, (by - ay) / ah, torch.log(bw / aw), torch.log(bh / ah)], dim=1)


class Detector(nn.Module):
    def __init__(self, num_classes=5):
        super().__init__()
        self.num_classes = num_classes
        self.backbone = Backbone()
        self.anchors = AnchorGenerator()
        self.fpn = FPN(self.backbone.channels)
        k = self.anchors.per_location
        self.cls_head = Head(32, k, num_classes)
        self.box_head = Head(32, k, 4)

    def forward(self, images, targets):
        feats = self.fpn(self.backbone(images))
        cls, reg = self.cls_head(feats), self.box_head(feats)
        anchors = self.anchors(feats)
        losses = []
        for i, target in enumerate(targets):
            iou = box_iou(anchors, target["boxes"])
            best, which = iou.max(dim=1)
            positive = best > 0.4
            labels = torch.zeros(anchors.size(0), self.num_classes)
            labels[positive, target["labels"][which[positive]]] = 1.0
            cls_loss = F.binary_cross_entropy_with_logits(cls[i], labels, reduction="sum")
            matched = target["boxes"][which[positive]]
            reg_loss = F.smooth_l1_loss(reg[i][positive], encode(anchors[positive], matched), reduction="sum")
            losses.append((cls_loss + reg_loss) / positive.sum().clamp(min=1))
        return torch.stack(losses).mean()


if __name__ == "__main__":
    torch.manual_seed(0)
    model = Detector()
    images = torch.randn(2, 3, 64, 64)
    targets = [{"boxes": torch.tensor([[4.0, 4.0, 30.0, 30.0], [20.0, 10.0, 60.0, 50.0]]), "labels": torch.tensor([1, 3])},
               {"boxes": torch.tensor([[0.0, 0.0, 40.0, 40.0]]), "labels": torch.tensor([2])}]
    opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss = model(images, targets)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
