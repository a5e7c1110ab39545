# Language model with learned positions; evaluation runs over longer windows than training.
import dataclasses

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclasses.dataclass
class Hyper:
    vocab: int = 40
    dim: int = 24
    heads: int = 3
    layers: int = 1
    context: int = 32
    train_window: int = 16
    eval_window: int = 32
    eval_stride: int = 16

    @property
    def head_dim(self):
        return self.dim // self.heads


class CausalBlock(nn.Module):
    def __init__(self, hp):
        super().__init__()
        self.hp = hp
        self.norm = nn.LayerNorm(hp.dim)
        self.qkv = nn.Linear(hp.dim, 3 * hp.dim)
        self.out = nn.Linear(hp.dim, hp.dim)
        self.mlp = nn.Sequential(nn.LayerNorm(hp.dim), nn.Linear(hp.dim, 2 * hp.dim), nn.GELU(), nn.Linear(2 * hp.dim, hp.dim))

    def forward(self, x):
        b, t, _ = x.shape
        qkv = self.qkv(self.norm(x)).reshape(b, t, 3, self.hp.heads, self.hp.head_dim)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        causal = torch.ones(t, t, dtype=torch.bool).triu(1)
        att = (q @ k.transpose(-1, -2)) * self.hp.head_dim ** -0.5
        att = att.masked_fill(causal, float("-inf")).softmax(-1)
        y = (att @ v).transpose(1, 2).reshape(b, t, self.hp.dim)
        x = x + self.out(y)
        return x + self.mlp(x)


class LM(nn.Module):
    def __init__(self, hp):
        super().__init__()
        self.tok = nn.Embedding(hp.vocab, hp.dim)
        self.pos = nn.Embedding(hp.context, hp.dim)
        self.blocks = nn.Sequential(*(CausalBlock(hp) for _ in range(hp.layers)))
        self.head = nn.Linear(hp.dim, hp.vocab)

    def forward(self, ids):
        positions = torch.arange(ids.shape[1])
        x = self.tok(ids) + self.pos(positions)
        x = self.blocks(x)
        return self.head(x)


def perplexity(model, corpus, hp):
    total, count = 0.0, 0
    for start in range(0, corpus.numel() - hp.eval_window - 1, hp.eval_stride):
        window = corpus[start:start + hp.eval_window].unsqueeze(0)
        following = corpus[start + 1:start + hp.eval_window + 1]
        logits = model(window)[0]
        total += F.cross_entropy(logits, following, reduction="sum").item()
        count += following.numel()
    return total / count


def main():
    torch.manual_seed(0)
    hp = Hyper()
    corpus = torch.randint(0, hp.vocab, (200,))
    model = LM(hp)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(3):
        starts = torch.randint(0, corpus.numel() - hp.train_window - 1, (4, 1))
        index = starts + torch.arange(hp.train_window)
        inputs, targets = corpus[index], corpus[index + 1]
        logits = model(inputs)
        loss = F.cross_entropy(logits.reshape(-1, hp.vocab), targets.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    model.eval()
    with torch.no_grad():
        score = perplexity(model, corpus, hp)
    print(loss.item(), score)


if __name__ == "__main__":
    main()
