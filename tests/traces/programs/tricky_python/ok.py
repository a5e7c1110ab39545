"""Model code in the style of people who like Python: match, walrus, partials, properties, generators, mixins, slots."""
import functools
import itertools
import operator
from collections import OrderedDict
from contextlib import contextmanager
from enum import Enum
from typing import Iterator

import torch
import torch.nn as nn


class Pool(Enum):
    MEAN = "mean"
    MAX = "max"
    FIRST = "first"


class ConfigMixin:
    defaults = {"dim": 16, "depth": 2, "pool": Pool.MEAN, "activation": "gelu"}

    @classmethod
    def from_options(cls, **options):
        unknown = options.keys() - cls.defaults.keys()
        if unknown:
            raise TypeError(f"unknown options: {sorted(unknown)}")
        return cls(**{**cls.defaults, **options})


class Scale(nn.Module):
    def __init__(self, value=1.0):
        super().__init__()
        self.value = nn.Parameter(torch.tensor(value))

    def forward(self, x):
        return x * self.value


def activation(name):
    match name:
        case "gelu":
            return nn.GELU()
        case "relu" | "relu6":
            return nn.ReLU()
        case _:
            raise ValueError(name)


class Encoder(ConfigMixin, nn.Module):
    def __init__(self, dim, depth, pool, activation):
        super().__init__()
        self._dim = dim
        self.pool = pool
        block = functools.partial(self.make_block, name=activation)
        self.layers = nn.Sequential(OrderedDict((f"layer{i}", block(dim if i else 10, dim)) for i in range(depth)))
        self.scales = nn.ModuleDict({p.value: Scale(float(i + 1)) for i, p in enumerate(Pool)})

    @staticmethod
    def make_block(cin, cout, name):
        return nn.Sequential(nn.Linear(cin, cout), activation(name), nn.LayerNorm(cout))

    @property
    def dim(self):
        return self._dim

    def pooled(self, x):
        match self.pool:
            case Pool.MEAN:
                out = x.mean(dim=1)
            case Pool.MAX:
                out = x.amax(dim=1)
            case Pool.FIRST:
                out = x[:, 0]
        return self.scales[self.pool.value](out)

    def forward(self, x, *extra, residual=None, **kwargs):
        x = self.layers(x)
        if (added := kwargs.get("bias")) is not None:
            x = x + added
        for e in extra:
            x = x + e
        x = x if residual is None else x + residual
        return self.pooled(x)


def batches(data: torch.Tensor, size: int) -> Iterator[torch.Tensor]:
    for start in range(0, len(data), size):
        yield data[start:start + size]


@contextmanager
def evaluating(*models):
    states = [m.training for m in models]
    try:
        for m in models:
            m.eval()
        yield
    finally:
        for m, state in zip(models, states):
            m.train(state)


def compose(*functions):
    return functools.reduce(lambda f, g: lambda x: g(f(x)), functions)


torch.manual_seed(0)
encoder = Encoder.from_options(depth=3, pool=Pool.MAX)
heads = {name: nn.Linear(encoder.dim, size) for name, size in zip(("a", "b"), itertools.count(2, 3))}
data = torch.randn(10, 4, 10)
with evaluating(encoder, *heads.values()), torch.no_grad():
    collected = [encoder(b, bias=torch.ones(16)) for b in batches(data, 4)]
    features = torch.cat(collected)
    outputs = {name: head(features) for name, head in heads.items()}
    pipeline = compose(encoder, heads["a"], functools.partial(torch.softmax, dim=-1))
    probabilities = pipeline(data)
    total = functools.reduce(operator.add, (o.sum(dim=1) for o in outputs.values()))
    rows, columns = data.flatten(0, 1).shape
    first, *middle, last = data.unbind(0)
    stacked = torch.stack([*middle])
    residual = encoder(data, torch.ones(4, 16), torch.zeros(16), residual=torch.ones(10, 4, 16))
print(features.shape, probabilities.shape, total.shape, rows, columns, last.shape, stacked.shape, residual.shape)
