"""A tensor-parallel decoder as one rank of a group computes it: heads, hidden columns and the vocabulary are shared."""
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    hidden_size: int = 4096
    intermediate_size: int = 14336
    num_layers: int = 32
    num_heads: int = 32
    num_kv_heads: int = 8
    vocab_size: int = 128256
    tp_size: int = 8


def reduce_from_group(x):
    if dist.is_available() and dist.is_initialized():
        dist.all_reduce(x)
    return x


class ColumnParallelLinear(nn.Module):
    """Y = XA, where A is split along its columns: each rank makes a part of the features."""

    def __init__(self, in_features, out_features, tp_size):
        super().__init__()
        assert out_features % tp_size == 0, "the ranks share the features"
        self.weight = nn.Parameter(torch.empty(out_features // tp_size, in_features))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, x):
        return F.linear(x, self.weight)


class RowParallelLinear(nn.Module):
    """Y = XA, where A is split along its rows: each rank takes its part of the features, and the sum of all is the output."""

    def __init__(self, in_features, out_features, tp_size):
        super().__init__()
        assert in_features % tp_size == 0, "the ranks share the features"
        self.weight = nn.Parameter(torch.empty(out_features, in_features // tp_size))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, x):
        return reduce_from_group(F.linear(x, self.weight))


class VocabParallelEmbedding(nn.Module):
    def __init__(self, vocab_size, hidden_size, tp_size, tp_rank=0):
        super().__init__()
        assert vocab_size % tp_size == 0, "the ranks share the vocabulary"
        self.per_rank = vocab_size // tp_size
        self.first = tp_rank * self.per_rank
        self.weight = nn.Parameter(torch.empty(self.per_rank, hidden_size))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, tokens):
        elsewhere = (tokens < self.first) | (tokens >= self.first + self.per_rank)
        local = (tokens - self.first).masked_fill(elsewhere, 0)
        embedded = F.embedding(local, self.weight)
        embedded = embedded.masked_fill(elsewhere.unsqueeze(-1), 0.0)
        return reduce_from_group(embedded)


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        assert config.num_heads % config.tp_size == 0 and config.num_kv_heads % config.tp_size == 0
        self.head_dim = config.hidden_size // config.num_heads
        self.local_heads = config.num_heads // config.tp_size
        self.local_kv_heads = config.num_kv_heads // config.tp_size
        self.q_proj = ColumnParallelLinear(config.hidden_size, config.num_heads * self.head_dim, config.tp_size)
        self.k_proj = ColumnParallelLinear(config.hidden_size, config.num_kv_heads * self.head_dim, config.tp_size)
        self.v_proj = ColumnParallelLinear(config.hidden_size, config.num_kv_heads * self.head_dim, config.tp_size)
        self.o_proj = RowParallelLinear(config.num_heads * self.head_dim, config.hidden_size, config.tp_size)

    def forward(self, x):
        batch, length, _ = x.shape
        q = self.q_proj(x).view(batch, length, self.local_heads, self.head_dim).transpose(1, 2)
        k = self.k_proj(x).view(batch, length, self.local_kv_heads, self.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(batch, length, self.local_kv_heads, self.head_dim).transpose(1, 2)
        groups = self.local_heads // self.local_kv_heads
        k = k.repeat_interleave(groups, dim=1)
        v = v.repeat_interleave(groups, dim=1)
        scores = torch.matmul(q, k.transpose(2, 3)) * self.head_dim**-0.5
        mask = torch.full((length, length), float("-inf"), device=x.device).triu(1)
        out = torch.matmul((scores + mask).softmax(dim=-1), v)
        return self.o_proj(out.transpose(1, 2).reshape(batch, length, self.local_heads * self.head_dim))


class MLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate_up = ColumnParallelLinear(config.hidden_size, 2 * config.intermediate_size, config.tp_size)
        self.down = RowParallelLinear(config.intermediate_size, config.hidden_size, config.tp_size)

    def forward(self, x):
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.down(F.silu(gate) * up)


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm1 = nn.LayerNorm(config.hidden_size)
        self.attention = Attention(config)
        self.norm2 = nn.LayerNorm(config.hidden_size)
        self.mlp = MLP(config)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed = VocabParallelEmbedding(config.vocab_size, config.hidden_size, config.tp_size)
        self.blocks = nn.ModuleList([Block(config) for _ in range(config.num_layers)])
        self.norm = nn.LayerNorm(config.hidden_size)
        self.head = ColumnParallelLinear(config.hidden_size, config.vocab_size, config.tp_size)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def main(config):
    model = Model(config)
    tokens = torch.randint(0, config.vocab_size, (2, 16))
    logits = model(tokens)
    print(logits.shape)


if __name__ == "__main__":
    main(Config())
    main(Config(num_heads=64, hidden_size=8192, intermediate_size=28672, num_layers=80))
