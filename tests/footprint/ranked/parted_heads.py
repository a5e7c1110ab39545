import os
import torch
import torch.distributed as dist
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, heads, tp):
        super().__init__()
        self.local_heads = heads // tp
        self.head_dim = dim // heads
        self.wq = nn.Linear(dim, self.local_heads * self.head_dim, bias=False)
        self.wk = nn.Linear(dim, self.local_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(dim, self.local_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(self.local_heads * self.head_dim, dim, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (w(x).view(b, t, self.local_heads, self.head_dim).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(b, t, -1))


dist.init_process_group("gloo")
tp = int(os.environ["WORLD_SIZE"])
model = nn.Sequential(Attention(48, 12, tp), Attention(48, 12, tp))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x = torch.randn(2, 7, 48)
for _ in range(2):
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
