# Replaces chosen linear layers of an existing model by adapted ones, found by name.
import torch
from torch import nn


class Adapter(nn.Module):
    def __init__(self, base: nn.Linear, rank: int, alpha: float):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad_(False)
        self.rank = rank
        self.scale = alpha / rank
        self.A = nn.Parameter(torch.empty(rank, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.normal_(self.A, std=0.02)

    def forward(self, x):
        low = nn.functional.linear(x, self.A)
        high = nn.functional.linear(low, self.B)
        return self.base(x) + self.scale * high


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q_proj = nn.Linear(dim, dim)
        self.k_proj = nn.Linear(dim, dim)
        self.v_proj = nn.Linear(dim, dim)
        self.out_proj = nn.Linear(dim, dim)

    def split(self, x):
        b, n, d = x.shape
        return x.reshape(b, n, self.heads, d // self.heads).permute(0, 2, 1, 3)

    def forward(self, x):
        q, k, v = self.split(self.q_proj(x)), self.split(self.k_proj(x)), self.split(self.v_proj(x))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        context = scores.softmax(-1) @ v
        merged = context.permute(0, 2, 1, 3).flatten(2)
        return self.out_proj(merged)


class Encoder(nn.Module):
    def __init__(self, vocab=40, dim=32, heads=4, depth=2, classes=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.attention = nn.ModuleList([SelfAttention(dim, heads) for _ in range(depth)])
        self.norms = nn.ModuleList([nn.LayerNorm(dim) for _ in range(depth)])
        self.classifier = nn.Linear(dim, classes)

    def forward(self, ids):
        x = self.embed(ids)
        for attn, norm in zip(self.attention, self.norms):
            x = x + attn(norm(x))
        pooled = x.mean(dim=1)
        return self.classifier(pooled)


def inject(model, targets, rank=4, alpha=8.0):
    replaced = 0
    for parent in list(model.modules()):
        for name in targets:
            child = getattr(parent, name, None)
            if isinstance(child, nn.Linear):
                setattr(parent, name, Adapter(child, rank, alpha))
                replaced += 1
    return replaced


torch.manual_seed(0)
model = Encoder()
count = inject(model, ("q_proj", "v_proj"))
for p in model.classifier.parameters():
    p.requires_grad_(True)
params = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(params, lr=1e-3)
ids = torch.randint(0, 40, (4, 12))
labels = torch.tensor([0, 2, 1, 1])
for _ in range(2):
    logits = model(ids)
    loss = nn.functional.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 1.0)
    optimizer.step()
first = model.attention[0].q_proj
delta = first.B @ first.A
print(count, loss.item(), delta.shape)
