"""Phi 3: one projection for queries, keys and values, one for gate and up; rotary frequencies for short and for long texts."""
import argparse
import math

import torch
import torch.nn as nn


class PhiConfig:
    def __init__(self, hidden_size=3072, intermediate_size=8192, num_hidden_layers=32, num_attention_heads=32,
                 num_key_value_heads=None, vocab_size=32064, max_position_embeddings=131072,
                 original_max_position_embeddings=4096, rope_theta=10000.0, rope_scaling=None, rms_norm_eps=1e-5,
                 partial_rotary_factor=1.0):
        self.hidden_size = hidden_size
        self.intermediate_size = intermediate_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        if num_key_value_heads is None:
            num_key_value_heads = num_attention_heads
        self.num_key_value_heads = num_key_value_heads
        self.vocab_size = vocab_size
        self.max_position_embeddings = max_position_embeddings
        self.original_max_position_embeddings = original_max_position_embeddings
        self.rope_theta = rope_theta
        self.rope_scaling = rope_scaling
        self.rms_norm_eps = rms_norm_eps
        self.partial_rotary_factor = partial_rotary_factor
        self._validate()

    def _validate(self):
        if self.rope_scaling is None:
            return
        rotary_dim = int(self.hidden_size // self.num_attention_heads * self.partial_rotary_factor)
        for key in ("short_factor", "long_factor"):
            if len(self.rope_scaling[key]) != rotary_dim // 2:
                raise ValueError(f"rope_scaling's {key} must have length {rotary_dim // 2}")


class PhiRMSNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        variance = hidden_states.to(torch.float32).pow(2).mean(-1, keepdim=True)
        return self.weight * (hidden_states * torch.rsqrt(variance + self.variance_epsilon))


class LongRope(nn.Module):
    def __init__(self, dim, config):
        super().__init__()
        self.dim = dim
        self.base = config.rope_theta
        self.original = config.original_max_position_embeddings
        self.maximum = config.max_position_embeddings
        self.short_factor = config.rope_scaling["short_factor"]
        self.long_factor = config.rope_scaling["long_factor"]

    @torch.no_grad()
    def forward(self, x, position_ids):
        seq_len = torch.max(position_ids) + 1
        factors = self.long_factor if seq_len > self.original else self.short_factor
        ext_factors = torch.tensor(factors, dtype=torch.float32, device=x.device)
        inv_freq_shape = torch.arange(0, self.dim, 2, dtype=torch.int64, device=x.device).float() / self.dim
        inv_freq = 1.0 / (ext_factors * self.base**inv_freq_shape)
        inv_freq_expanded = inv_freq[None, :, None].float().expand(position_ids.shape[0], -1, 1)
        freqs = (inv_freq_expanded.float() @ position_ids[:, None, :].float()).transpose(1, 2)
        emb = torch.cat((freqs, freqs), dim=-1)
        scale = self.maximum / self.original
        scaling_factor = 1.0 if scale <= 1.0 else math.sqrt(1 + math.log(scale) / math.log(self.original))
        return (emb.cos() * scaling_factor).to(x.dtype), (emb.sin() * scaling_factor).to(x.dtype)


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


class PhiAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.hidden_size = config.hidden_size
        self.num_heads = config.num_attention_heads
        self.head_dim = self.hidden_size // self.num_heads
        self.num_key_value_heads = config.num_key_value_heads
        self.num_key_value_groups = self.num_heads // self.num_key_value_heads
        if (self.head_dim * self.num_heads) != self.hidden_size:
            raise ValueError("hidden_size must be divisible by num_heads")
        op_size = self.num_heads * self.head_dim + 2 * (self.num_key_value_heads * self.head_dim)
        self.o_proj = nn.Linear(self.num_heads * self.head_dim, self.hidden_size, bias=False)
        self.qkv_proj = nn.Linear(self.hidden_size, op_size, bias=False)
        self.rotary_emb = LongRope(int(self.head_dim * config.partial_rotary_factor), config)

    def forward(self, hidden_states, position_ids):
        bsz, q_len, _ = hidden_states.size()
        qkv = self.qkv_proj(hidden_states)
        query_pos = self.num_heads * self.head_dim
        query_states = qkv[..., :query_pos]
        key_states = qkv[..., query_pos : query_pos + self.num_key_value_heads * self.head_dim]
        value_states = qkv[..., query_pos + self.num_key_value_heads * self.head_dim :]
        query_states = query_states.view(bsz, q_len, self.num_heads, self.head_dim).transpose(1, 2)
        key_states = key_states.view(bsz, q_len, self.num_key_value_heads, self.head_dim).transpose(1, 2)
        value_states = value_states.view(bsz, q_len, self.num_key_value_heads, self.head_dim).transpose(1, 2)
        cos, sin = self.rotary_emb(value_states, position_ids)
        cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
        rotary_dim = cos.shape[-1]
        q_rot, q_pass = query_states[..., :rotary_dim], query_states[..., rotary_dim:]
        k_rot, k_pass = key_states[..., :rotary_dim], key_states[..., rotary_dim:]
        query_states = torch.cat([(q_rot * cos) + (rotate_half(q_rot) * sin), q_pass], dim=-1)
        key_states = torch.cat([(k_rot * cos) + (rotate_half(k_rot) * sin), k_pass], dim=-1)
        key_states = torch.repeat_interleave(key_states, self.num_key_value_groups, dim=1)
        value_states = torch.repeat_interleave(value_states, self.num_key_value_groups, dim=1)
        attn_weights = torch.matmul(query_states, key_states.transpose(2, 3)) / math.sqrt(self.head_dim)
        causal = torch.full((q_len, q_len), float("-inf"), device=attn_weights.device).triu(1)
        attn_weights = nn.functional.softmax(attn_weights + causal, dim=-1, dtype=torch.float32).to(value_states.dtype)
        attn_output = torch.matmul(attn_weights, value_states)
        attn_output = attn_output.transpose(1, 2).contiguous().reshape(bsz, q_len, self.hidden_size)
        return self.o_proj(attn_output)


class PhiMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate_up_proj = nn.Linear(config.hidden_size, 2 * config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)
        self.activation_fn = nn.SiLU()

    def forward(self, hidden_states):
        up_states = self.gate_up_proj(hidden_states)
        gate, up_states = up_states.chunk(2, dim=-1)
        return self.down_proj(up_states * self.activation_fn(gate))


class PhiLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.self_attn = PhiAttention(config)
        self.mlp = PhiMLP(config)
        self.input_layernorm = PhiRMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.post_attention_layernorm = PhiRMSNorm(config.hidden_size, eps=config.rms_norm_eps)

    def forward(self, hidden_states, position_ids):
        hidden_states = hidden_states + self.self_attn(self.input_layernorm(hidden_states), position_ids)
        return hidden_states + self.mlp(self.post_attention_layernorm(hidden_states))


class Phi3(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList([PhiLayer(config) for _ in range(config.num_hidden_layers)])
        self.norm = PhiRMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def forward(self, input_ids):
        hidden_states = self.embed_tokens(input_ids)
        position_ids = torch.arange(input_ids.shape[1], device=input_ids.device).unsqueeze(0)
        for layer in self.layers:
            hidden_states = layer(hidden_states, position_ids)
        return self.lm_head(self.norm(hidden_states))


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument("--length", type=int, default=20)
    return parser.parse_args()


PHI3_MINI_128K = PhiConfig(
    rope_scaling={"type": "longrope", "short_factor": [1.0 + 0.01 * i for i in range(48)], "long_factor": [1.0 + 0.5 * i for i in range(48)]})

if __name__ == "__main__":
    options = parse()
    model = Phi3(PHI3_MINI_128K)
    input_ids = torch.randint(0, 32064, (options.batch_size, options.length))
    print(model(input_ids).shape)
