"""Self-attention as models write it: nobody calls it here, and nothing is annotated."""
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, dim, heads=8):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        weights = torch.softmax(q @ k.transpose(-2, -1) * k.size(-1) ** -0.5, dim=-1)
        y = (weights @ v).transpose(1, 2).flatten(2)
        return self.out(y)
