"""Mixtral: eight experts, two for each token, chosen by a softmax; the tokens of an expert are gathered by a mask."""
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F

config = SimpleNamespace(
    vocab_size=32000,
    hidden_size=4096,
    intermediate_size=14336,
    num_hidden_layers=32,
    num_attention_heads=32,
    num_key_value_heads=8,
    num_local_experts=8,
    num_experts_per_tok=2,
    rope_theta=1e6,
    router_aux_loss_coef=0.001,
    rms_norm_eps=1e-5,
    max_position_embeddings=32768,
)


class RMSNorm(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps))


class Expert(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.w1 = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.w2 = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)
        self.w3 = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class MoeLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        assert config.num_experts_per_tok <= config.num_local_experts
        self.num_experts_per_tok = config.num_experts_per_tok
        self.gate = nn.Linear(config.hidden_size, config.num_local_experts, bias=False)
        self.experts = nn.ModuleList([Expert(config) for _ in range(config.num_local_experts)])

    def forward(self, inputs):
        flat = inputs.view(-1, inputs.shape[-1])
        gate_logits = self.gate(flat)
        weights, selected = torch.topk(gate_logits, self.num_experts_per_tok)
        weights = F.softmax(weights, dim=1, dtype=torch.float).to(inputs.dtype)
        results = torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            token, nth = torch.where(selected == i)
            out = expert(flat[token])
            results[token] += weights[token, nth, None] * out
        return results.view_as(inputs), gate_logits


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.num_heads = config.num_attention_heads
        self.num_kv_heads = config.num_key_value_heads
        self.head_dim = config.hidden_size // self.num_heads
        self.q_proj = nn.Linear(config.hidden_size, self.num_heads * self.head_dim, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, self.num_kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, self.num_kv_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(self.num_heads * self.head_dim, config.hidden_size, bias=False)

    def forward(self, x, cos, sin):
        b, t, _ = x.size()
        q = self.q_proj(x).view(b, t, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.k_proj(x).view(b, t, self.num_kv_heads, self.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(b, t, self.num_kv_heads, self.head_dim).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        k = k.repeat_interleave(self.num_heads // self.num_kv_heads, dim=1)
        v = v.repeat_interleave(self.num_heads // self.num_kv_heads, dim=1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True) if hasattr(F, "scaled_dot_product_attention") else plain(q, k, v)
        return self.o_proj(y.transpose(1, 2).reshape(b, t, -1))


def plain(q, k, v):
    scores = q @ k.transpose(-2, -1) * q.size(-1) ** -0.5
    future = torch.ones(q.size(-2), k.size(-2), dtype=torch.bool, device=q.device).triu(1)
    return scores.masked_fill(future, float("-inf")).softmax(-1) @ v


def tables(length, dim, theta):
    inverse = theta ** -(torch.arange(0, dim, 2).float() / dim)
    angles = torch.arange(length).float().unsqueeze(1) * inverse
    return angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-b, a), dim=-1) * sin


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention = Attention(config)
        self.moe = MoeLayer(config)
        self.attention_norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.moe_norm = RMSNorm(config.hidden_size, config.rms_norm_eps)

    def forward(self, x, cos, sin):
        x = x + self.attention(self.attention_norm(x), cos, sin)
        out, gate_logits = self.moe(self.moe_norm(x))
        return x + out, gate_logits


class Mixtral(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab_size, config.hidden_size)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.num_hidden_layers))
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def forward(self, ids):
        x = self.embed(ids)
        cos, sin = tables(ids.size(1), self.config.hidden_size // self.config.num_attention_heads, self.config.rope_theta)
        gates = ()
        for block in self.blocks:
            x, gate_logits = block(x, cos, sin)
            gates += (gate_logits,)
        return self.head(self.norm(x)), torch.cat(gates, dim=0)


def balance(gates, count, k):
    probs = gates.softmax(dim=-1)
    chosen = F.one_hot(probs.topk(k, dim=-1).indices, count).float().sum(1)
    return count * (chosen.mean(0) * probs.mean(0)).sum()


model = Mixtral(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(2):
    ids = torch.randint(0, config.vocab_size, (2, 10))
    logits, gates = model(ids)
    loss = F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:])
    loss = loss + config.router_aux_loss_coef * balance(gates, config.num_local_experts, config.num_experts_per_tok)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
