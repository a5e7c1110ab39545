"""Incremental decoding with a key/value cache and grouped queries."""
from dataclasses import dataclass
from typing import List, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class ModelArgs:
    dim: int = 64
    n_layers: int = 2
    n_heads: int = 8
    n_kv_heads: int = 2
    vocab_size: int = 50
    max_seq_len: int = 32


class KVCache:
    def __init__(self):
        self.k: Optional[torch.Tensor] = None
        self.v: Optional[torch.Tensor] = None

    def update(self, k, v):
        if self.k is None:
            self.k, self.v = k, v
        else:
            self.k = torch.cat([self.k, k], dim=2)
            self.v = torch.cat([self.v, v], dim=2)
        return self.k, self.v


class Attention(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.n_heads = args.n_heads
        self.n_kv_heads = args.n_kv_heads
        self.n_rep = args.n_heads // args.n_kv_heads
        self.head_dim = args.dim // args.n_heads
        self.wq = nn.Linear(args.dim, args.n_heads * self.head_dim, bias=False)
        self.wk = nn.Linear(args.dim, args.n_kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(args.dim, args.n_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(args.n_heads * self.head_dim, args.dim, bias=False)

    def forward(self, x, cache: Optional[KVCache] = None):
        bsz, seqlen, _ = x.shape
        q = self.wq(x).view(bsz, seqlen, self.n_heads, self.head_dim).transpose(1, 2)
        k = self.wk(x).view(bsz, seqlen, self.n_kv_heads, self.head_dim).transpose(1, 2)
        v = self.wv(x).view(bsz, seqlen, self.n_kv_heads, self.head_dim).transpose(1, 2)
        if cache is not None:
            k, v = cache.update(k, v)
        k = k.repeat_interleave(self.n_rep, dim=1)
        v = v.repeat_interleave(self.n_rep, dim=1)
        scores = torch.matmul(q, k.transpose(2, 3)) / self.head_dim ** 0.5
        if seqlen > 1:
            total = k.size(2)
            mask = torch.ones(seqlen, total, dtype=torch.bool).tril(total - seqlen)
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = F.softmax(scores.float(), dim=-1).type_as(q)
        output = torch.matmul(weights, v)
        output = output.transpose(1, 2).reshape(bsz, seqlen, -1)
        return self.wo(output)


class DecoderLayer(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.attention = Attention(args)
        self.norm1 = nn.LayerNorm(args.dim)
        self.norm2 = nn.LayerNorm(args.dim)
        self.mlp = nn.Sequential(nn.Linear(args.dim, 2 * args.dim), nn.SiLU(), nn.Linear(2 * args.dim, args.dim))

    def forward(self, x, cache=None):
        h = x + self.attention(self.norm1(x), cache)
        return h + self.mlp(self.norm2(h))


class Decoder(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.args = args
        self.embed = nn.Embedding(args.vocab_size, args.dim)
        self.layers = nn.ModuleList(DecoderLayer(args) for _ in range(args.n_layers))
        self.head = nn.Linear(args.dim, args.vocab_size)

    def forward(self, tokens, caches: Optional[List[KVCache]] = None) -> torch.Tensor:
        h = self.embed(tokens)
        for i, layer in enumerate(self.layers):
            h = layer(h, caches[i] if caches is not None else None)
        return self.head(h)


@torch.no_grad()
def generate(model: Decoder, prompt: torch.Tensor, steps: int) -> Tuple[torch.Tensor, int]:
    caches = [KVCache() for _ in range(model.args.n_layers)]
    logits = model(prompt, caches)
    tokens = [prompt]
    for _ in range(steps):
        token = logits[:, -1].argmax(dim=-1, keepdim=True)
        tokens.append(token)
        logits = model(token, caches)
    return torch.cat(tokens, dim=1), caches[0].k.size(2)


def main():
    torch.manual_seed(0)
    args = ModelArgs()
    model = Decoder(args).eval()
    prompt = torch.randint(0, args.vocab_size, (2, 5))
    sequence, cached = generate(model, prompt, steps=3)
    full = model(sequence)
    print(sequence.shape, cached, full.shape)


if __name__ == "__main__":
    main()
