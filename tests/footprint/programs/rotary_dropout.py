# A GPT with rotary positions and dropout in the attention, whose query, key and value are parts of one projection.
import math
from dataclasses import dataclass
import torch
import torch.nn as nn
import torch.nn.functional as F

@dataclass
class Config:
    vocab: int = 311
    ctx: int = 32
    layers: int = 3
    heads: int = 4
    width: int = 64
    drop: float = 0.1

class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))
    def forward(self, x):
        dtype = x.dtype
        x = x.float()
        return (self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps))).to(dtype)

def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)

class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.qkv = nn.Linear(c.width, 3 * c.width, bias=False)
        self.out = nn.Linear(c.width, c.width, bias=False)
        d = c.width // c.heads
        inv = 1.0 / (10000 ** (torch.arange(0, d, 2).float() / d))
        t = torch.outer(torch.arange(c.ctx).float(), inv)
        self.register_buffer('cos', t.cos(), persistent=False)
        self.register_buffer('sin', t.sin(), persistent=False)
    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.qkv(x).split(self.c.width, dim=2)
        q, k, v = [t.view(B, T, self.c.heads, -1).transpose(1, 2) for t in (q, k, v)]
        q, k = rotate(q, self.cos[:T], self.sin[:T]), rotate(k, self.cos[:T], self.sin[:T])
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.c.drop if self.training else 0.0, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(B, T, C))

class SwiGLU(nn.Module):
    def __init__(self, c):
        super().__init__()
        h = int(8 * c.width / 3)
        h = 16 * ((h + 15) // 16)
        self.w1, self.w3 = nn.Linear(c.width, h, bias=False), nn.Linear(c.width, h, bias=False)
        self.w2 = nn.Linear(h, c.width, bias=False)
    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))

class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.n1, self.n2 = RMSNorm(c.width), RMSNorm(c.width)
        self.attn, self.mlp = Attention(c), SwiGLU(c)
    def forward(self, x):
        x = x + self.attn(self.n1(x))
        return x + self.mlp(self.n2(x))

class GPT(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.emb = nn.Embedding(c.vocab, c.width)
        self.blocks = nn.ModuleList(Block(c) for _ in range(c.layers))
        self.norm = RMSNorm(c.width)
        self.head = nn.Linear(c.width, c.vocab, bias=False)
        self.head.weight = self.emb.weight
    def forward(self, idx, targets=None):
        x = self.emb(idx)
        for b in self.blocks:
            x = b(x)
        logits = self.head(self.norm(x))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)

def main():
    c = Config()
    model = GPT(c)
    decay = [p for p in model.parameters() if p.dim() >= 2]
    rest = [p for p in model.parameters() if p.dim() < 2]
    opt = torch.optim.AdamW([{'params': decay, 'weight_decay': 0.1}, {'params': rest, 'weight_decay': 0.0}], lr=3e-4, betas=(0.9, 0.95))
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 10)
    data = torch.randint(0, c.vocab, (5000,))
    for it in range(4):
        ix = torch.randint(len(data) - c.ctx, (8,))
        x = torch.stack([data[i:i + c.ctx] for i in ix])
        y = torch.stack([data[i + 1:i + 1 + c.ctx] for i in ix])
        logits, loss = model(x, y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
    return model, opt
model, opt = main()
