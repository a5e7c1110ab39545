"""Operators that few models have, each of which keeps something besides its input."""
import torch
from torch import nn
import torch.nn.functional as F

net = nn.Linear(8, 6)
optimizer = torch.optim.Rprop(net.parameters())
x = torch.rand(4, 8)
a, b = net(x), net(x * 2)
parts = [torch.clamp(a, b - 1, b + 1), torch.hypot(a, b), torch.lerp(a, b, b.sigmoid()), a.nan_to_num(), a.logcumsumexp(-1), a.cummax(-1)[0]]
parts += [F.pad(a[:, None], (1, 1), mode="reflect").sum((1, 2)), a.std(-1), a.quantile(0.5, dim=-1), torch.linalg.vector_norm(b, dim=-1), torch.linalg.norm(a, dim=-1)]
parts += [F.gumbel_softmax(a), F.gumbel_softmax(b, hard=True), F.alpha_dropout(a, 0.2, True), torch.cross(a[:, :3], b[:, :3], dim=-1)]
batches = a.view(2, 2, 1, 6) @ torch.rand(2, 6, 5)
heads = F.scaled_dot_product_attention(a.view(2, 2, 6), b.view(2, 2, 6), b.view(2, 2, 6))
masked = F.scaled_dot_product_attention(a.view(1, 2, 2, 6), b.view(1, 2, 2, 6), b.view(1, 2, 2, 6), attn_mask=torch.ones(2, 2, dtype=torch.bool))
loss = sum(part.sum() for part in parts) + batches.sum() + heads.sum() + masked.sum()
loss.backward()
optimizer.step()
