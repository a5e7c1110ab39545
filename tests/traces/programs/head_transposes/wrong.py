"""Attention written with views and transposes only; relative positions as a bias; used by a small encoder."""
import math
from typing import Optional

import torch
from torch import nn


class RelativeBias(nn.Module):
    def __init__(self, heads: int, max_distance: int = 16) -> None:
        super().__init__()
        self.max_distance = max_distance
        self.table = nn.Embedding(2 * max_distance + 1, heads)

    def forward(self, length: int) -> torch.Tensor:
        positions = torch.arange(length)
        distance = positions[None, :] - positions[:, None]
        distance = distance.clamp(-self.max_distance, self.max_distance) + self.max_distance
        return self.table(distance).permute(2, 0, 1).unsqueeze(0)


class Attention(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.h = heads
        self.d_k = dim // heads
        self.linears = nn.ModuleList([nn.Linear(dim, dim) for _ in range(4)])
        self.bias = RelativeBias(heads)

    def forward(self, query, key, value, mask: Optional[torch.Tensor] = None):
        nbatches = query.size(0)
        query, key, value = [
            lin(x).view(nbatches, -1, self.h, self.d_k).transpose(1, 2)
            for lin, x in zip(self.linears, (query, key, value))
        ]
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(self.d_k)
        scores = scores + self.bias(scores.size(-1))
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        p_attn = scores.softmax(dim=-1)
        x = torch.matmul(p_attn, value)
        x = x.transpose(1, 2)
        x = x.view(nbatches, -1, self.h * self.d_k)
        return self.linears[-1](x)


class SublayerConnection(nn.Module):
    def __init__(self, size: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, sublayer):
        return x + self.dropout(sublayer(self.norm(x)))


class EncoderLayer(nn.Module):
    def __init__(self, size: int, heads: int, ff: int, dropout: float) -> None:
        super().__init__()
        self.self_attn = Attention(size, heads)
        self.feed_forward = nn.Sequential(nn.Linear(size, ff), nn.ReLU(), nn.Linear(ff, size))
        self.sublayer = nn.ModuleList([SublayerConnection(size, dropout) for _ in range(2)])

    def forward(self, x, mask):
        x = self.sublayer[0](x, lambda x: self.self_attn(x, x, x, mask))
        return self.sublayer[1](x, self.feed_forward)


def make_model(vocab: int, depth: int = 2, size: int = 32, heads: int = 4, ff: int = 48):
    embed = nn.Embedding(vocab, size)
    layers = nn.ModuleList([EncoderLayer(size, heads, ff, 0.1) for _ in range(depth)])
    generator = nn.Linear(size, vocab)
    return embed, layers, generator


def run(embed, layers, generator, ids):
    mask = (ids != 0).unsqueeze(1).unsqueeze(2)
    x = embed(ids)
    for layer in layers:
        x = layer(x, mask)
    return generator(x).log_softmax(dim=-1)


if __name__ == "__main__":
    torch.manual_seed(0)
    parts = make_model(30)
    ids = torch.randint(1, 30, (3, 10))
    log_probs = run(*parts, ids)
    loss = nn.functional.nll_loss(log_probs.transpose(1, 2), ids)
    loss.backward()
    print(log_probs.shape, loss.item())
