"""The heads of a single-shot detector: one pair of convolutions per feature map, anchors, matching loss."""
import itertools

import torch
import torch.nn as nn
import torch.nn.functional as F


class Backbone(nn.Module):
    def __init__(self, channels=(16, 32, 64)):
        super().__init__()
        self.stages = nn.ModuleList()
        previous = 3
        for c in channels:
            self.stages.append(nn.Sequential(
                nn.Conv2d(previous, c, 3, stride=2, padding=1), nn.BatchNorm2d(c), nn.ReLU(inplace=True)))
            previous = c
        self.out_channels = list(channels)

    def forward(self, x):
        maps = []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        return maps


class SSDHead(nn.Module):
    def __init__(self, in_channels, num_anchors, num_classes):
        super().__init__()
        self.num_classes = num_classes
        self.cls = nn.ModuleList([nn.Conv2d(c, a * num_classes, 3, padding=1) for c, a in zip(in_channels, num_anchors)])
        self.box = nn.ModuleList([nn.Conv2d(c, a * 4, 3, padding=1) for c, a in zip(in_channels, num_anchors)])

    def flatten(self, maps, columns):
        results = []
        for m in maps:
            n, _, h, w = m.shape
            m = m.permute(0, 2, 3, 1).contiguous()
            results.append(m.view(n, -1, columns))
        return torch.cat(results, dim=1)

    def forward(self, features):
        logits = self.flatten([conv(f) for conv, f in zip(self.cls, features)], self.num_classes)
        deltas = self.flatten([conv(f) for conv, f in zip(self.box, features)], 4)
        return logits, deltas


def make_anchors(sizes, ratios):
    boxes = []
    for size in sizes:
        for i, j in itertools.product(range(size), repeat=2):
            cy, cx = (i + 0.5) / size, (j + 0.5) / size
            for ratio in ratios:
                boxes.append([cx, cy, ratio / size, 1.0 / (ratio * size)])
    return torch.tensor(boxes)


class MultiBoxLoss(nn.Module):
    def __init__(self, neg_pos_ratio=3):
        super().__init__()
        self.neg_pos_ratio = neg_pos_ratio

    def forward(self, logits, deltas, labels, targets):
        positive = labels > 0
        n_positive = positive.sum(dim=1, keepdim=True)
        conf = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
        hard = conf.masked_fill(positive, 0.0)
        order = hard.argsort(dim=1, descending=True).argsort(dim=1)
        negative = order < self.neg_pos_ratio * n_positive
        conf_loss = conf[positive | negative].sum()
        box_loss = F.smooth_l1_loss(deltas[positive], targets[positive], reduction="sum")
        total = n_positive.sum().clamp(min=1)
        return (conf_loss + box_loss) / total


if __name__ == "__main__":
    torch.manual_seed(0)
    classes = 5
    backbone = Backbone()
    head = SSDHead(backbone.out_channels, [2, 2, 2], classes)
    images = torch.randn(2, 3, 32, 32)
    features = backbone(images)
    logits, deltas = head(features)
    anchors = make_anchors([16, 8, 4], [1.0, 2.0])
    assert anchors.shape[0] == logits.shape[1]
    labels = torch.randint(0, classes, logits.shape[:2])
    targets = torch.randn(2, anchors.shape[0], 4)
    loss = MultiBoxLoss()(logits, deltas, labels, targets)
    loss.backward()
    print(anchors.shape, loss.item())
