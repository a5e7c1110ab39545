"""Multi-head latent attention: low-rank queries and keys/values, a rotary part beside the compressed one."""
from dataclasses import dataclass
from typing import Optional

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class MLAConfig:
    hidden_size: int = 64
    num_heads: int = 4
    q_lora_rank: int = 24
    kv_lora_rank: int = 16
    qk_nope_head_dim: int = 12
    qk_rope_head_dim: int = 8
    v_head_dim: int = 10
    max_positions: int = 64
    rope_theta: float = 10000.0


class RMSNorm(nn.Module):
    def __init__(self, size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)


def rotary_tables(config: MLAConfig):
    exponents = torch.arange(0, config.qk_rope_head_dim, 2).float() / config.qk_rope_head_dim
    inv_freq = config.rope_theta ** -exponents
    angles = torch.arange(config.max_positions).float()[:, None] * inv_freq[None, :]
    angles = torch.cat([angles, angles], dim=-1)
    return angles.cos(), angles.sin()


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-b, a], dim=-1) * sin


class MLA(nn.Module):
    def __init__(self, config: MLAConfig):
        super().__init__()
        self.config = config
        self.q_head_dim = config.qk_nope_head_dim + config.qk_rope_head_dim
        self.q_a_proj = nn.Linear(config.hidden_size, config.q_lora_rank, bias=False)
        self.q_a_norm = RMSNorm(config.q_lora_rank)
        self.q_b_proj = nn.Linear(config.q_lora_rank, config.num_heads * self.q_head_dim, bias=False)
        self.kv_a_proj = nn.Linear(config.hidden_size, config.kv_lora_rank + config.qk_rope_head_dim, bias=False)
        self.kv_a_norm = RMSNorm(config.kv_lora_rank)
        self.kv_b_proj = nn.Linear(
            config.kv_lora_rank, config.num_heads * (config.qk_nope_head_dim + config.v_head_dim), bias=False)
        self.o_proj = nn.Linear(config.num_heads * config.v_head_dim, config.hidden_size, bias=False)
        cos, sin = rotary_tables(config)
        self.register_buffer("cos", cos)
        self.register_buffer("sin", sin)

    def forward(self, hidden: torch.Tensor, mask: Optional[torch.Tensor] = None) -> torch.Tensor:
        c = self.config
        bsz, length, _ = hidden.shape
        q = self.q_b_proj(self.q_a_norm(self.q_a_proj(hidden)))
        q = q.view(bsz, length, c.num_heads, self.q_head_dim).transpose(1, 2)
        q_nope, q_pe = torch.split(q, [c.qk_nope_head_dim, c.qk_rope_head_dim], dim=-1)

        compressed = self.kv_a_proj(hidden)
        latent, k_pe = torch.split(compressed, [c.kv_lora_rank, c.qk_rope_head_dim], dim=-1)
        k_pe = k_pe.view(bsz, length, 1, c.qk_rope_head_dim).transpose(1, 2)
        kv = self.kv_b_proj(self.kv_a_norm(latent))
        kv = kv.view(bsz, length, c.num_heads, c.qk_nope_head_dim + c.v_head_dim).transpose(1, 2)
        k_nope, value = torch.split(kv, [c.qk_nope_head_dim, c.v_head_dim], dim=-1)

        cos, sin = self.cos[:length], self.sin[:length]
        q_pe = rotate(q_pe, cos, sin)
        k_pe = rotate(k_pe, cos, sin)
        query = torch.cat([q_nope, q_pe], dim=-1)
        key = torch.cat([k_nope, k_pe.expand(-1, c.num_heads, -1, -1)], dim=-1)

        scores = query @ key.transpose(-1, -2) * self.q_head_dim ** -0.5
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
        probs = F.softmax(scores, dim=-1)
        context = probs @ value
        context = context.transpose(1, 2).reshape(bsz, length, c.num_heads * c.v_head_dim)
        return self.o_proj(context)


if __name__ == "__main__":
    torch.manual_seed(0)
    config = MLAConfig()
    attention = MLA(config)
    x = torch.randn(2, 7, config.hidden_size)
    causal = torch.ones(7, 7, dtype=torch.bool).triu(1)
    y = attention(x, causal)
    print(y.shape, y.mean().item())
