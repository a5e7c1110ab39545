"""Siamese verification: a shared tower, two heads (distance and classifier over the joined features)."""
import random

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset


class PairDataset(Dataset):
    """Pairs of images with 1 for the same class and 0 otherwise."""

    def __init__(self, per_class=4, classes=3, seed=0):
        rng = random.Random(seed)
        generator = torch.Generator().manual_seed(seed)
        self.images = torch.rand(classes * per_class, 1, 20, 20, generator=generator)
        self.labels = [i // per_class for i in range(classes * per_class)]
        self.pairs = [(rng.randrange(len(self.labels)), rng.randrange(len(self.labels))) for _ in range(18)]

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, index):
        i, j = self.pairs[index]
        same = float(self.labels[i] == self.labels[j])
        return self.images[i], self.images[j], torch.tensor(same)


class Tower(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 8, 5), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.fc = nn.Linear(16 * 3 * 3, dim)

    def forward(self, x):
        x = self.conv(x)
        x = x.flatten(1)
        return F.normalize(self.fc(x), dim=-1)


class Siamese(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.tower = Tower(dim)
        self.classifier = nn.Sequential(nn.Linear(2 * dim, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, a, b):
        fa, fb = self.tower(a), self.tower(b)
        joined = torch.cat([fa, fb, (fa - fb).abs()], dim=1)
        logit = self.classifier(joined).squeeze(1)
        distance = F.pairwise_distance(fa, fb)
        return logit, distance


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.margin = margin

    def forward(self, distance, same):
        positive = same * distance.pow(2)
        negative = (1 - same) * F.relu(self.margin - distance).pow(2)
        return (positive + negative).mean()


def main():
    torch.manual_seed(0)
    loader = DataLoader(PairDataset(), batch_size=6)
    model = Siamese()
    contrastive = ContrastiveLoss()
    bce = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for a, b, same in loader:
        logit, distance = model(a, b)
        loss = bce(logit, same) + contrastive(distance, same)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


main()
