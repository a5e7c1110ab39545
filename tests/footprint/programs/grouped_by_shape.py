"""Many blocks of one kind, whose parameters are dealt into groups by their shapes; tokens are read from a file."""
import tempfile

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(2)])
        self.projected = nn.Linear(width, 3 * width, bias=False)
        self.joined = nn.Linear(width, width, bias=False)
        self.mixed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.projected(self.norms[0](x)).split(width, dim=2)
        query, key, value = (each.view(batch, length, self.heads, -1).transpose(1, 2) for each in parts)
        found = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.joined(found.transpose(1, 2).reshape(batch, length, width))
        return x + self.mixed(self.norms[1](x))


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.tokens = nn.Embedding(config["words"], config["width"])
        self.blocks = nn.ModuleList([Block(config["width"], config["heads"]) for _ in range(config["depth"])])
        self.scores = nn.Linear(config["width"], config["words"], bias=False)

    def forward(self, x):
        x = self.tokens(x)
        for block in self.blocks:
            x = block(x)
        return self.scores(x)


size, length = 6, 24
with tempfile.NamedTemporaryFile(suffix=".bin") as file:
    np.random.randint(0, 90, 4000).astype(np.uint16).tofile(file.name)
    data = np.memmap(file.name, dtype=np.uint16, mode="r")
    starts = torch.randint(len(data) - length, (size,))
    x = torch.stack([torch.from_numpy(data[i:i + length].astype(np.int64)) for i in starts])
    y = torch.stack([torch.from_numpy(data[i + 1:i + 1 + length].astype(np.int64)) for i in starts])
model = Model({"words": 90, "width": 32, "heads": 4, "depth": 24})
named = {name: each for name, each in model.named_parameters() if each.requires_grad}
groups = [{"params": [each for each in named.values() if each.dim() >= 2], "weight_decay": 0.1},
          {"params": [each for each in named.values() if each.dim() < 2], "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=1e-3)
loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
loss.backward()
optimizer.step()
