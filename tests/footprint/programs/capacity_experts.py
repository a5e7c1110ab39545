# Experts that each take a fixed number of tokens, beside attention.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Expert(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class SparseMoE(nn.Module):
    """Every expert sees a fixed capacity of tokens."""

    def __init__(self, dim, hidden, num_experts, capacity_factor=1.25):
        super().__init__()
        self.gate = nn.Linear(dim, num_experts, bias=False)
        self.experts = nn.ModuleList([Expert(dim, hidden) for _ in range(num_experts)])
        self.num_experts, self.capacity_factor = num_experts, capacity_factor

    def forward(self, x):
        B, T, C = x.shape
        flat = x.reshape(-1, C)
        probs = F.softmax(self.gate(flat), dim=-1)
        capacity = int(self.capacity_factor * flat.shape[0] / self.num_experts)
        out = torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            weight, index = torch.topk(probs[:, i], capacity)
            picked = flat[index]
            out = out.index_add(0, index, expert(picked) * weight.unsqueeze(-1))
        density = probs.mean(dim=0)
        aux = self.num_experts * (density * density).sum()
        return out.view(B, T, C), aux


class Layer(nn.Module):
    def __init__(self, dim, heads, hidden, experts):
        super().__init__()
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.moe = SparseMoE(dim, hidden, experts)
        self.n1, self.n2 = nn.RMSNorm(dim), nn.RMSNorm(dim)

    def forward(self, x, mask):
        h = self.n1(x)
        a, _ = self.attn(h, h, h, attn_mask=mask, need_weights=False)
        x = x + a
        m, aux = self.moe(self.n2(x))
        return x + m, aux


class Model(nn.Module):
    def __init__(self, vocab, dim, heads, layers, experts):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(Layer(dim, heads, dim * 2, experts) for _ in range(layers))
        self.norm = nn.RMSNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)

    def forward(self, ids):
        x = self.embed(ids)
        mask = torch.triu(torch.full((ids.shape[1], ids.shape[1]), float("-inf")), diagonal=1)
        total = 0.0
        for layer in self.layers:
            x, aux = layer(x, mask)
            total = total + aux
        return self.head(self.norm(x)), total


torch.manual_seed(0)
model = Model(vocab=300, dim=48, heads=4, layers=2, experts=4)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, amsgrad=True)
for step in range(2):
    ids = torch.randint(0, 300, (4, 25))
    logits, aux = model(ids[:, :-1])
    loss = F.cross_entropy(logits.transpose(1, 2), ids[:, 1:]) + 0.01 * aux
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
