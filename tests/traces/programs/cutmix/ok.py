"""CutMix and mixup on batches; a helper to look at the tail of a sequence of crops."""
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

IMAGE = 32
CROP = 24


def mixup(x, y, alpha=0.4):
    lam = random.betavariate(alpha, alpha)
    index = torch.randperm(x.size(0))
    mixed = lam * x + (1 - lam) * x[index]
    return mixed, y, y[index], lam


def rand_bbox(size, lam):
    W, H = size[2], size[3]
    cut_rat = math.sqrt(1.0 - lam)
    cut_w, cut_h = int(W * cut_rat), int(H * cut_rat)
    cx, cy = random.randrange(W), random.randrange(H)
    x1, x2 = max(cx - cut_w // 2, 0), min(cx + cut_w // 2, W)
    y1, y2 = max(cy - cut_h // 2, 0), min(cy + cut_h // 2, H)
    return x1, y1, x2, y2


def cutmix(x, y, alpha=1.0):
    lam = random.betavariate(alpha, alpha)
    index = torch.randperm(x.size(0))
    x1, y1, x2, y2 = rand_bbox(x.size(), lam)
    mixed = x.clone()
    mixed[:, :, x1:x2, y1:y2] = x[index, :, x1:x2, y1:y2]
    lam = 1 - ((x2 - x1) * (y2 - y1) / (x.size(-1) * x.size(-2)))
    return mixed, y, y[index], lam


def five_crops(batch):
    """Four corners and the centre of each image."""
    top_left = batch[:, :, :CROP, :CROP]
    top_right = batch[:, :, :CROP, IMAGE - CROP:]
    bottom_left = batch[:, :, IMAGE - CROP:, :CROP]
    bottom_right = batch[:, :, IMAGE - CROP:, IMAGE - CROP:]
    margin = (IMAGE - CROP) // 2
    centre = batch[:, :, margin:margin + CROP, margin:margin + CROP]
    return torch.stack([top_left, top_right, bottom_left, bottom_right, centre], dim=1)


class Net(nn.Module):
    def __init__(self, classes=6):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 12, 3, 2, 1)
        self.conv2 = nn.Conv2d(12, 24, 3, 2, 1)
        self.fc = nn.Linear(24, classes)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = x.amax(dim=(2, 3))
        return self.fc(x)


def main():
    random.seed(0)
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    images = torch.rand(8, 3, IMAGE, IMAGE)
    labels = torch.randint(0, 6, (8,))
    for mix in (mixup, cutmix):
        mixed, a, b, lam = mix(images, labels)
        logits = model(mixed)
        loss = lam * F.cross_entropy(logits, a) + (1 - lam) * F.cross_entropy(logits, b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        crops = five_crops(images)
        n, k = crops.shape[:2]
        scores = model(crops.flatten(0, 1)).view(n, k, -1).mean(dim=1)
        border = images[:, :, IMAGE - 4:, :]
        brightness = border.mean(dim=(1, 2, 3))
    print(loss.item(), scores.shape, brightness.shape)


if __name__ == "__main__":
    main()
