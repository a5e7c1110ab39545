import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class LoRA(nn.Module):
    def __init__(self, base, r=8, alpha=16):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        self.a = nn.Parameter(torch.empty(r, base.in_features))
        self.b = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.a, a=math.sqrt(5))
        self.scale = alpha / r
        self.drop = nn.Dropout(0.05)
    def forward(self, x):
        return self.base(x) + F.linear(F.linear(self.drop(x), self.a), self.b) * self.scale

class RMS(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w = nn.Parameter(torch.ones(d))
    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.w

class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.n1, self.n2 = RMS(d), RMS(d)
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))
        self.g, self.u = nn.Linear(d, 4 * d, bias=False), nn.Linear(d, 4 * d, bias=False)
        self.w = nn.Linear(4 * d, d, bias=False)
        self.h = h
    def forward(self, x):
        B, T, C = x.shape
        y = self.n1(x)
        q, k, v = (m(y).view(B, T, self.h, C // self.h).transpose(1, 2) for m in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).contiguous().view(B, T, C))
        y = self.n2(x)
        return x + self.w(F.silu(self.g(y)) * self.u(y))

class LM(nn.Module):
    def __init__(self, V=512, d=128, L=3, h=4, T=128):
        super().__init__()
        self.e = nn.Embedding(V, d)
        self.p = nn.Embedding(T, d)
        self.blocks = nn.ModuleList(Block(d, h) for _ in range(L))
        self.n = RMS(d)
        self.head = nn.Linear(d, V, bias=False)
        self.head.weight = self.e.weight
    def forward(self, x):
        h = self.e(x) + self.p(torch.arange(x.size(1)))
        for b in self.blocks:
            h = b(h)
        return self.head(self.n(h))

model = LM()
for p in model.parameters():
    p.requires_grad = False
for block in model.blocks:
    for name in ("q", "v"):
        setattr(block, name, LoRA(getattr(block, name)))
opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)
accum = 2
for step in range(10):
    for micro in range(accum):
        x = torch.randint(0, 512, (4, 65))
        logits = model(x[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), x[:, 1:].flatten()) / accum
        loss.backward()
    opt.step()
    opt.zero_grad(set_to_none=True)
