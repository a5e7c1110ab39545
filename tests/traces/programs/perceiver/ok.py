"""Perceiver: a few latents read a long input by cross-attention."""
from functools import wraps
from typing import Optional

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def cache_fn(f):
    cache = {}

    @wraps(f)
    def cached(*args, key=None, **kwargs):
        if key is None:
            return f(*args, **kwargs)
        if key not in cache:
            cache[key] = f(*args, **kwargs)
        return cache[key]

    return cached


class PreNorm(nn.Module):
    def __init__(self, dim, fn, context_dim: Optional[int] = None):
        super().__init__()
        self.fn = fn
        self.norm = nn.LayerNorm(dim)
        self.norm_context = nn.LayerNorm(context_dim) if context_dim is not None else None

    def forward(self, x: Tensor, **kwargs) -> Tensor:
        x = self.norm(x)
        if self.norm_context is not None:
            kwargs["context"] = self.norm_context(kwargs["context"])
        return self.fn(x, **kwargs)


class GEGLU(nn.Module):
    def forward(self, x):
        x, gates = x.chunk(2, dim=-1)
        return x * F.gelu(gates)


class FeedForward(nn.Module):
    def __init__(self, dim, mult=2):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, dim * mult * 2), GEGLU(), nn.Linear(dim * mult, dim))

    def forward(self, x):
        return self.net(x)


class Attention(nn.Module):
    def __init__(self, query_dim, context_dim=None, heads=2, dim_head=12):
        super().__init__()
        inner_dim = dim_head * heads
        context_dim = context_dim if context_dim is not None else query_dim
        self.scale = dim_head ** -0.5
        self.heads = heads
        self.to_q = nn.Linear(query_dim, inner_dim, bias=False)
        self.to_kv = nn.Linear(context_dim, inner_dim * 2, bias=False)
        self.to_out = nn.Linear(inner_dim, query_dim)

    def split_heads(self, t: Tensor) -> Tensor:
        b, n, d = t.shape
        return t.reshape(b, n, self.heads, d // self.heads).transpose(1, 2).reshape(b * self.heads, n, -1)

    def forward(self, x: Tensor, context: Optional[Tensor] = None) -> Tensor:
        b, n, _ = x.shape
        context = x if context is None else context
        q = self.to_q(x)
        k, v = self.to_kv(context).chunk(2, dim=-1)
        q, k, v = (self.split_heads(t) for t in (q, k, v))
        sim = torch.einsum("bid,bjd->bij", q, k) * self.scale
        attn = sim.softmax(dim=-1)
        out = torch.einsum("bij,bjd->bid", attn, v)
        out = out.reshape(b, self.heads, n, -1).transpose(1, 2).reshape(b, n, -1)
        return self.to_out(out)


class Perceiver(nn.Module):
    def __init__(self, *, depth, input_channels, num_latents=8, latent_dim=32, num_classes=5, weight_tie_layers=True):
        super().__init__()
        self.latents = nn.Parameter(torch.randn(num_latents, latent_dim))
        get_cross_attn = cache_fn(lambda: PreNorm(latent_dim, Attention(latent_dim, input_channels), context_dim=input_channels))
        get_latent_attn = cache_fn(lambda: PreNorm(latent_dim, Attention(latent_dim)))
        get_ff = cache_fn(lambda: PreNorm(latent_dim, FeedForward(latent_dim)))
        self.layers = nn.ModuleList([])
        for i in range(depth):
            key = "shared" if i > 0 and weight_tie_layers else None
            self.layers.append(nn.ModuleList([
                get_cross_attn(key=key), get_latent_attn(key=key), get_ff(key=key)]))
        self.to_logits = nn.Sequential(nn.LayerNorm(latent_dim), nn.Linear(latent_dim, num_classes))

    def forward(self, data: Tensor) -> Tensor:
        b, *axis, channels = data.shape
        data = data.reshape(b, -1, channels)
        x = self.latents.expand(b, -1, -1)
        for cross_attn, latent_attn, ff in self.layers:
            x = cross_attn(x, context=data) + x
            x = latent_attn(x) + x
            x = ff(x) + x
        pooled = x.mean(dim=1)
        return self.to_logits(pooled)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = Perceiver(depth=3, input_channels=7)
    images = torch.randn(2, 10, 9, 7)
    logits = model(images)
    print(logits.shape)
