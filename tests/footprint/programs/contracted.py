# Operands that einsum copies before it multiplies, what is chosen by indices, and layers that are half as wide.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Experts(nn.Module):
    def __init__(self, experts=4, width=32, hidden=64, chosen=2):
        super().__init__()
        self.gate = nn.Linear(width, experts, bias=False)
        self.up = nn.Parameter(torch.randn(experts, width, hidden) * 0.02)
        self.down = nn.Parameter(torch.randn(experts, hidden, width) * 0.02)
        self.chosen = chosen

    def forward(self, x):
        scores = self.gate(x).softmax(-1)
        weights, indices = torch.topk(scores, self.chosen, dim=-1)
        mask = torch.zeros_like(scores).scatter(-1, indices, weights)
        hidden = F.silu(torch.einsum("btd,edh->bteh", x, self.up))
        return (torch.einsum("bteh,ehd->bted", hidden, self.down) * mask.unsqueeze(-1)).sum(2)


class Heads(nn.Module):
    def __init__(self, width=32, heads=4):
        super().__init__()
        self.qkv, self.heads = nn.Linear(width, 3 * width), heads

    def forward(self, x):
        q, k, v = self.qkv(x).view(*x.shape[:2], 3, self.heads, -1).unbind(2)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k).softmax(-1)
        return x + torch.einsum("bhqk,bkhd->bqhd", scores, v).flatten(2)


torch.manual_seed(0)
net = nn.Sequential(Experts(), Heads(), Experts(), nn.Linear(32, 7))
half = nn.Sequential(nn.LayerNorm(7), nn.Linear(7, 7), nn.GroupNorm(7, 7)).to(torch.bfloat16)
optimizer = torch.optim.SGD([*net.parameters(), *half.parameters()], lr=0.1)
x, at = torch.randn(3, 10, 32), torch.randint(0, 7, (3, 10, 1))
scores = net(x)
picked = scores.gather(2, at).squeeze(2) + scores.take(torch.randint(0, 210, (3, 10)))
spread = scores[0].scatter_reduce(0, at[0].expand(-1, 7), scores[1], "sum")
loss = F.huber_loss(picked, torch.randn(3, 10)) + spread.sum() + half(scores.to(torch.bfloat16).flatten(0, 1)).float().pow(2).mean()
loss.backward()
optimizer.step()
