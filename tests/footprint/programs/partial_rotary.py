import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim=64, heads=4, rotated=8):
        super().__init__()
        self.heads, self.rotated = heads, rotated
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.proj = nn.Linear(dim, dim, bias=False)
        self.register_buffer("cos", torch.randn(16, rotated), persistent=False)
        self.register_buffer("sin", torch.randn(16, rotated), persistent=False)

    def turn(self, x):
        rot, rest = x[..., : self.rotated], x[..., self.rotated :]
        a, b = rot.chunk(2, dim=-1)
        return torch.cat([rot * self.cos + torch.cat([-b, a], dim=-1) * self.sin, rest], dim=-1)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        out = F.scaled_dot_product_attention(self.turn(q), self.turn(k), v, is_causal=True)
        return self.proj(out.transpose(1, 2).reshape(B, T, C))


model = nn.Sequential(Attention(), Attention(), nn.Linear(64, 10))
optimizer = torch.optim.AdamW(model.parameters())
loss = model(torch.randn(2, 16, 64)).pow(2).mean()
loss.backward()
optimizer.step()
