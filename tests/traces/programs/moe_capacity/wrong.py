# Switch-style routing: every expert takes at most `capacity` tokens, dispatched with one-hot einsums.
import math

import torch
from torch import nn


class Experts(nn.Module):
    """All experts in two weights, applied with batched matrix products."""

    def __init__(self, dim, num_experts, hidden_dim):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(num_experts, dim, hidden_dim) / math.sqrt(dim))
        self.w2 = nn.Parameter(torch.randn(num_experts, dim, hidden_dim) / math.sqrt(hidden_dim))
        self.act = nn.GELU()

    def forward(self, x):
        hidden = torch.einsum("end,edh->enh", x, self.w1)
        hidden = self.act(hidden)
        return torch.einsum("enh,ehd->end", hidden, self.w2)


class SwitchRouter(nn.Module):
    def __init__(self, dim, num_experts, capacity_factor=1.25):
        super().__init__()
        self.num_experts = num_experts
        self.capacity_factor = capacity_factor
        self.proj = nn.Linear(dim, num_experts)

    def forward(self, x):
        tokens = x.shape[0]
        capacity = math.ceil(tokens * self.capacity_factor / self.num_experts)
        probs = self.proj(x).softmax(dim=-1)
        gate, index = probs.max(dim=-1)
        mask = nn.functional.one_hot(index, self.num_experts).float()
        position = (mask.cumsum(dim=0) - 1) * mask
        keep = (position < capacity).float() * mask
        slot = nn.functional.one_hot(position.sum(dim=-1).long().clamp(max=capacity - 1), capacity).float()
        dispatch = keep.unsqueeze(-1) * slot.unsqueeze(1)
        combine = dispatch * gate[:, None, None]
        density = mask.mean(dim=0)
        density_proxy = probs.mean(dim=0)
        balance = (density * density_proxy).sum() * self.num_experts
        return dispatch, combine, balance


class SwitchFFN(nn.Module):
    def __init__(self, dim=24, num_experts=4, hidden_dim=40):
        super().__init__()
        self.router = SwitchRouter(dim, num_experts)
        self.experts = Experts(dim, num_experts, hidden_dim)

    def forward(self, x):
        b, n, d = x.shape
        flat = x.reshape(b * n, d)
        dispatch, combine, balance = self.router(flat)
        expert_inputs = torch.einsum("tec,td->ecd", dispatch, flat)
        expert_outputs = self.experts(expert_inputs)
        output = torch.einsum("tec,ecd->td", combine, expert_outputs)
        return output.reshape(b, n, d), balance


torch.manual_seed(0)
layer = SwitchFFN()
tokens = torch.randn(2, 10, 24)
out, balance = layer(tokens)
loss = out.pow(2).mean() + 0.01 * balance
loss.backward()
print(out.shape, loss.item())
