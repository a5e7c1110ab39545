import torch
import torch.nn.functional as F
from torch import nn


class Expert(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class DenseMoE(nn.Module):
    """Every expert runs on every token, weighted by the gate: static shapes."""

    def __init__(self, dim=48, hidden=96, experts=4, top=2):
        super().__init__()
        self.gate = nn.Linear(dim, experts, bias=False)
        self.experts = nn.ModuleList(Expert(dim, hidden) for _ in range(experts))
        self.top = top

    def forward(self, x):
        scores = self.gate(x)
        values, indices = scores.topk(self.top, dim=-1)
        weights = torch.zeros_like(scores).scatter(-1, indices, values.softmax(dim=-1))
        outs = torch.stack([expert(x) for expert in self.experts], dim=-2)
        load = F.one_hot(indices, scores.size(-1)).float().mean((0, 1))
        aux = (load * scores.softmax(-1).mean((0, 1))).sum()
        return (outs * weights.unsqueeze(-1)).sum(-2), aux


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(300, 48)
        self.norms = nn.ModuleList([nn.RMSNorm(48), nn.RMSNorm(48)])
        self.moes = nn.ModuleList([DenseMoE(), DenseMoE()])
        self.out = nn.Linear(48, 300)

    def forward(self, ids):
        x, total = self.embed(ids), 0.0
        for norm, moe in zip(self.norms, self.moes):
            y, aux = moe(norm(x))
            x, total = x + y, total + aux
        return self.out(x), total


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
ids = torch.randint(0, 300, (4, 32))
logits, aux = model(ids[:, :-1])
loss = F.cross_entropy(logits.transpose(1, 2), ids[:, 1:]) + 0.01 * aux
loss.backward()
optimizer.step()
