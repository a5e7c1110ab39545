"""Gemma 3: heads of a width of their own, five layers that look back a window for each that sees all, two rotary bases."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Gemma3Config:
    vocab_size: int = 262144
    hidden_size: int = 640
    num_hidden_layers: int = 18
    num_attention_heads: int = 4
    num_key_value_heads: int = 1
    intermediate_size: int = 2048
    head_dim: int = 256
    query_pre_attn_scalar: int = 256
    sliding_window: int = 512
    sliding_window_pattern: int = 6
    rope_theta: float = 1_000_000.0
    rope_local_base_freq: float = 10_000.0
    max_position_embeddings: int = 32768
    rms_norm_eps: float = 1e-6


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        output = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + self.eps)
        return (output * (1.0 + self.weight.float())).type_as(x)


def compute_rope_params(head_dim, theta_base, context_length):
    assert head_dim % 2 == 0, "the rotary width is even"
    inv_freq = 1.0 / (theta_base ** (torch.arange(0, head_dim, 2).float() / head_dim))
    angles = torch.arange(context_length)[:, None] * inv_freq[None, :]
    angles = torch.cat([angles, angles], dim=1)
    return torch.cos(angles), torch.sin(angles)


def apply_rope(x, cos, sin):
    batch_size, num_heads, seq_len, head_dim = x.shape
    x1 = x[..., : head_dim // 2]
    x2 = x[..., head_dim // 2 :]
    cos = cos[:seq_len, :].unsqueeze(0).unsqueeze(0)
    sin = sin[:seq_len, :].unsqueeze(0).unsqueeze(0)
    rotated = torch.cat((-x2, x1), dim=-1)
    return ((x * cos) + (rotated * sin)).to(dtype=x.dtype)


class Attention(nn.Module):
    def __init__(self, config, is_sliding):
        super().__init__()
        self.is_sliding = is_sliding
        self.num_heads = config.num_attention_heads
        self.num_kv_groups = config.num_key_value_heads
        self.group_size = self.num_heads // self.num_kv_groups
        self.head_dim = config.head_dim
        self.d_out = self.num_heads * self.head_dim
        self.q_proj = nn.Linear(config.hidden_size, self.d_out, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, self.num_kv_groups * self.head_dim, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, self.num_kv_groups * self.head_dim, bias=False)
        self.o_proj = nn.Linear(self.d_out, config.hidden_size, bias=False)
        self.q_norm = RMSNorm(self.head_dim, config.rms_norm_eps)
        self.k_norm = RMSNorm(self.head_dim, config.rms_norm_eps)
        self.scaling = config.query_pre_attn_scalar**-0.5

    def forward(self, x, mask, cos, sin):
        b, num_tokens, _ = x.shape
        queries = self.q_proj(x).view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2)
        keys = self.k_proj(x).view(b, num_tokens, self.num_kv_groups, self.head_dim).transpose(1, 2)
        values = self.v_proj(x).view(b, num_tokens, self.num_kv_groups, self.head_dim).transpose(1, 2)
        queries = apply_rope(self.q_norm(queries), cos, sin)
        keys = apply_rope(self.k_norm(keys), cos, sin)
        keys = keys.repeat_interleave(self.group_size, dim=1)
        values = values.repeat_interleave(self.group_size, dim=1)
        attn_scores = queries * self.scaling @ keys.transpose(2, 3)
        attn_scores = attn_scores.masked_fill(mask, -torch.inf)
        attn_weights = torch.softmax(attn_scores, dim=-1)
        context = (attn_weights @ values).transpose(1, 2).reshape(b, num_tokens, self.d_out)
        return self.o_proj(context)


class FeedForward(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x):
        return self.down_proj(F.gelu(self.gate_proj(x), approximate="tanh") * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.is_sliding = bool((layer_idx + 1) % config.sliding_window_pattern)
        self.self_attn = Attention(config, self.is_sliding)
        self.mlp = FeedForward(config)
        self.input_norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.post_attention_norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.pre_feedforward_norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.post_feedforward_norm = RMSNorm(config.hidden_size, config.rms_norm_eps)

    def forward(self, x, mask_global, mask_local, global_tables, local_tables):
        mask = mask_local if self.is_sliding else mask_global
        cos, sin = local_tables if self.is_sliding else global_tables
        residual = x
        x = self.self_attn(self.input_norm(x), mask, cos, sin)
        x = residual + self.post_attention_norm(x)
        residual = x
        x = self.mlp(self.pre_feedforward_norm(x))
        return residual + self.post_feedforward_norm(x)


class Gemma3(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList([Layer(config, i) for i in range(config.num_hidden_layers)])
        self.final_norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        cos_local, sin_local = compute_rope_params(config.head_dim, config.rope_local_base_freq, config.max_position_embeddings)
        cos_global, sin_global = compute_rope_params(config.head_dim, config.rope_theta, config.max_position_embeddings)
        self.register_buffer("cos_local", cos_local, persistent=False)
        self.register_buffer("sin_local", sin_local, persistent=False)
        self.register_buffer("cos_global", cos_global, persistent=False)
        self.register_buffer("sin_global", sin_global, persistent=False)

    def masks(self, seq_len, device):
        ones = torch.ones((seq_len, seq_len), dtype=torch.bool, device=device)
        mask_global = torch.triu(ones, diagonal=1)
        far_past = torch.triu(ones, diagonal=self.config.sliding_window).T
        return mask_global, mask_global | far_past

    def forward(self, input_ids):
        b, seq_len = input_ids.shape
        x = self.embed(input_ids) * (self.config.hidden_size**0.5)
        mask_global, mask_local = self.masks(seq_len, x.device)
        for layer in self.layers:
            x = layer(x, mask_global, mask_local, (self.cos_global, self.sin_global), (self.cos_local, self.sin_local))
        return F.linear(self.final_norm(x), self.embed.weight)


GEMMA3_270M = Gemma3Config()
GEMMA3_27B = Gemma3Config(
    hidden_size=5376, num_hidden_layers=62, num_attention_heads=32, num_key_value_heads=16, intermediate_size=21504, head_dim=128,
    query_pre_attn_scalar=168, sliding_window=1024, max_position_embeddings=131072)


def main(config):
    model = Gemma3(config)
    ids = torch.randint(0, config.vocab_size, (2, 24))
    logits = model(ids)
    print(logits.shape)


main(GEMMA3_270M)
main(GEMMA3_27B)
