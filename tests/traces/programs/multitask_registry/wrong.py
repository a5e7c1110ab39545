"""Multi-task network: heads are built from a registry by name and kept in a ModuleDict."""
from typing import Callable, Dict, Type

import torch
import torch.nn as nn
import torch.nn.functional as F

HEADS: Dict[str, Type[nn.Module]] = {}


def register(name: str) -> Callable:
    def wrap(cls):
        HEADS[name] = cls
        return cls

    return wrap


@register("classification")
class ClassificationHead(nn.Module):
    def __init__(self, dim, classes=5, hidden=None):
        super().__init__()
        hidden = hidden or dim
        self.net = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, classes))

    def forward(self, x):
        return self.net(x)

    def loss(self, output, target):
        return F.cross_entropy(output, target)


@register("regression")
class RegressionHead(nn.Module):
    def __init__(self, dim, outputs=1):
        super().__init__()
        self.net = nn.Linear(dim, outputs)

    def forward(self, x):
        return self.net(x).squeeze(-1)

    def loss(self, output, target):
        return F.smooth_l1_loss(output, target)


@register("multilabel")
class MultiLabelHead(nn.Module):
    def __init__(self, dim, labels):
        super().__init__()
        self.net = nn.Linear(dim, labels)

    def forward(self, x):
        return self.net(x)

    def loss(self, output, target):
        return F.binary_cross_entropy_with_logits(output, target)


def build_head(kind, dim, **options):
    if kind not in HEADS:
        raise KeyError(f"unknown head {kind}, choose from {sorted(HEADS)}")
    return HEADS[kind](dim, **options)


class MultiTask(nn.Module):
    def __init__(self, inputs, dim, tasks):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(inputs, dim), nn.LayerNorm(dim), nn.GELU())
        self.heads = nn.ModuleDict()
        for name, options in tasks.items():
            options = dict(options)
            kind = options.pop("kind")
            self.heads[name] = build_head(kind, dim, **options)
        self.log_vars = nn.Parameter(torch.zeros(len(tasks)))

    def forward(self, x):
        h = self.trunk(x)
        return {name: head(h) for name, head in self.heads.items()}

    def loss(self, outputs, targets):
        losses = [self.heads[name].loss(outputs[name], targets[name]) for name in outputs]
        stacked = torch.stack(losses)
        return (torch.exp(-self.log_vars) * stacked + self.log_vars).sum(), stacked.detach()


TASKS = {
    "species": {"kind": "classification", "classes": 6, "hidden": 20},
    "weight": {"kind": "regression"},
    "traits": {"kind": "multilabel", "labels": 8},
}

if __name__ == "__main__":
    torch.manual_seed(0)
    model = MultiTask(14, 24, TASKS)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    x = torch.randn(10, 14)
    targets = {
        "species": torch.randint(0, 6, (10,)),
        "weight": torch.rand(10),
        "traits": torch.randint(0, 2, (10, 9)).float(),
    }
    for _ in range(2):
        outputs = model(x)
        loss, parts = model.loss(outputs, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item(), parts)
