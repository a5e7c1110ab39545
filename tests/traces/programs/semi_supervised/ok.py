"""FixMatch-like training: endless loaders, two views, a list-valued collate, class-balanced sampling."""
import itertools
from typing import NamedTuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset, WeightedRandomSampler


class Output(NamedTuple):
    logits: torch.Tensor
    features: torch.Tensor


class Images(Dataset):
    def __init__(self, n, transform=None, labelled=True):
        g = torch.Generator().manual_seed(n)
        self.x = torch.rand(n, 3, 16, 16, generator=g)
        self.y = torch.arange(n) % 4
        self.transform = transform
        self.labelled = labelled

    def __len__(self):
        return self.x.size(0)

    def __getitem__(self, i):
        x = self.x[i]
        if self.transform is not None:
            x = self.transform(x)
        if self.labelled:
            return x, self.y[i]
        return x


class TwoViews:
    def __init__(self, weak, strong):
        self.weak, self.strong = weak, strong

    def __call__(self, x):
        return self.weak(x), self.strong(x)


def flip(x):
    return x.flip(-1) if torch.rand(()) < 0.5 else x


def noise(x):
    return (x + 0.1 * torch.randn_like(x)).clamp(0, 1)


class Net(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.fc = nn.Linear(16, classes)

    def forward(self, x) -> Output:
        f = self.trunk(x)
        return Output(logits=self.fc(f), features=f)


def infinite(loader):
    while True:
        for batch in loader:
            yield batch


def main():
    torch.manual_seed(0)
    labelled = ConcatDataset([Images(20, flip), Images(12, flip)])
    targets = torch.cat([d.y for d in labelled.datasets])
    counts = torch.bincount(targets, minlength=4).float()
    sampler = WeightedRandomSampler((1.0 / counts)[targets], num_samples=len(labelled), replacement=True)
    l_loader = DataLoader(labelled, batch_size=4, sampler=sampler, drop_last=True)
    u_loader = DataLoader(Images(40, TwoViews(flip, noise), labelled=False), batch_size=12, shuffle=True, drop_last=True)
    valid = DataLoader(Subset(Images(30), range(0, 30, 2)), batch_size=8)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9, nesterov=True)
    l_iter, u_iter = infinite(l_loader), iter(itertools.cycle(u_loader))
    for step in range(3):
        xl, yl = next(l_iter)
        weak, strong = next(u_iter)
        out = model(torch.cat([xl, weak, strong]))
        n = xl.size(0)
        logits_l = out.logits[:n]
        logits_w, logits_s = out.logits[n:].chunk(2)
        loss_l = F.cross_entropy(logits_l, yl)
        with torch.no_grad():
            probs = logits_w.softmax(-1)
            confidence, pseudo = probs.max(dim=-1)
            mask = (confidence > 0.2).float()
        loss_u = (F.cross_entropy(logits_s, pseudo, reduction="none") * mask).mean()
        loss = loss_l + loss_u
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    right = total = 0
    with torch.inference_mode():
        for x, y in valid:
            right += (model(x).logits.argmax(1) == y).sum().item()
            total += y.numel()
    print(loss.item(), right / total)


if __name__ == "__main__":
    main()
