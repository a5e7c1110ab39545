# RMSNorm by hand, rotary positions, grouped heads, SwiGLU.
import torch
import torch.nn as nn
import torch.nn.functional as F


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps))


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-b, a], dim=-1) * sin


class Attention(nn.Module):
    def __init__(self, dim, heads, kv_heads):
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, dim // heads
        self.wq = nn.Linear(dim, heads * self.size, bias=False)
        self.wk = nn.Linear(dim, kv_heads * self.size, bias=False)
        self.wv = nn.Linear(dim, kv_heads * self.size, bias=False)
        self.wo = nn.Linear(heads * self.size, dim, bias=False)

    def forward(self, x, cos, sin):
        B, T, C = x.shape
        q = self.wq(x).view(B, T, self.heads, self.size).transpose(1, 2)
        k = self.wk(x).view(B, T, self.kv_heads, self.size).transpose(1, 2)
        v = self.wv(x).view(B, T, self.kv_heads, self.size).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        k = k.repeat_interleave(self.heads // self.kv_heads, dim=1)
        v = v.repeat_interleave(self.heads // self.kv_heads, dim=1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self, dim, heads, kv_heads, hidden):
        super().__init__()
        self.attention = Attention(dim, heads, kv_heads)
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)
        self.norm1, self.norm2 = RMSNorm(dim), RMSNorm(dim)

    def forward(self, x, cos, sin):
        x = x + self.attention(self.norm1(x), cos, sin)
        y = self.norm2(x)
        return x + self.w2(F.silu(self.w1(y)) * self.w3(y))


class Llama(nn.Module):
    def __init__(self, words=128, dim=64, heads=4, kv_heads=2, layers=2, hidden=160, length=32):
        super().__init__()
        self.embed = nn.Embedding(words, dim)
        self.blocks = nn.ModuleList(Block(dim, heads, kv_heads, hidden) for _ in range(layers))
        self.norm = RMSNorm(dim)
        self.out = nn.Linear(dim, words, bias=False)
        angles = torch.outer(torch.arange(length).float(), 1.0 / (10000 ** (torch.arange(0, dim // heads, 2).float() / (dim // heads))))
        angles = torch.cat([angles, angles], dim=-1)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, x):
        T = x.shape[1]
        h = self.embed(x)
        for block in self.blocks:
            h = block(h, self.cos[:T], self.sin[:T])
        return self.out(self.norm(h))


model = Llama()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
x = torch.randint(0, 128, (2, 32))
logits = model(x)
loss = F.cross_entropy(logits[:, :-1].reshape(-1, 128), x[:, 1:].reshape(-1))
loss.backward()
optimizer.step()
