"""Trains a video classifier that lives in the package beside this script."""
from dataclasses import dataclass, replace

import torch
from torch import nn

from lib import create_model, make_loaders


@dataclass
class Config:
    model: str = "video"
    clips: int = 12
    frames: int = 8
    size: int = 16
    classes: int = 3
    batch_size: int = 3
    epochs: int = 1
    lr: float = 1e-3


class TemporalHead(nn.Module):
    """Attention over time on top of the extracted maps."""

    def __init__(self, features, classes):
        super().__init__()
        self.score = nn.Linear(features, 1)
        self.out = nn.Linear(features, classes)

    def forward(self, maps):
        per_frame = maps.mean(dim=(3, 4)).transpose(1, 2)
        weights = self.score(per_frame).softmax(dim=1)
        summary = (weights * per_frame).sum(dim=1)
        return self.out(summary)


class AverageMeter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n

    @property
    def average(self):
        return self.total / max(self.count, 1)


def validate(model, head, loader):
    model.eval()
    head.eval()
    meter = AverageMeter()
    with torch.no_grad():
        for clips, labels in loader:
            logits = model(clips) + head(model.extract(clips))
            hits = (logits.argmax(dim=1) == labels).float().mean()
            meter.update(hits.item(), clips.size(0))
    return meter.average


def run(cfg):
    torch.manual_seed(0)
    train_loader, valid_loader = make_loaders(cfg)
    model = create_model(cfg.model, classes=cfg.classes)
    head = TemporalHead(model.out_features, cfg.classes)
    parameters = list(model.parameters()) + list(head.parameters())
    optimizer = torch.optim.Adam(parameters, lr=cfg.lr)
    for epoch in range(cfg.epochs):
        model.train()
        head.train()
        meter = AverageMeter()
        for clips, labels in train_loader:
            maps = model.extract(clips)
            logits = head(maps)
            loss = nn.functional.cross_entropy(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            meter.update(loss.item(), labels.size(0))
        print(epoch, meter.average, validate(model, head, valid_loader))


if __name__ == "__main__":
    run(Config())
    run(replace(Config(), model="video_wide", batch_size=4))
