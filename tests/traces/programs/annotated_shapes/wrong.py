"""Attention pooling with jaxtyping-like annotations; they are only there for readers and tools."""
from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int
    from torch import Tensor


class AttentionPool(nn.Module):
    def __init__(self, dim: int, queries: int = 4) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(queries, dim))
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)

    def forward(self, x: Float[Tensor, "batch time dim"], mask: Bool[Tensor, "batch time"]) -> Float[Tensor, "batch query dim"]:
        k = self.key(x)
        v = self.value(x)
        scores = torch.einsum("qd,btd->bqt", self.queries, k) / k.size(-1) ** 0.5
        scores = scores.masked_fill(~mask.unsqueeze(1), float("-inf"))
        weights = scores.softmax(dim=-1)
        return weights @ v


class SetClassifier(nn.Module):
    def __init__(self, vocab: int, dim: int, classes: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.pool = AttentionPool(dim)
        self.head = nn.Linear(4 * dim, classes)

    def forward(self, ids: Int[Tensor, "batch time"]) -> Float[Tensor, "batch classes"]:
        mask = ids != 0
        mask[:, 0] = True
        x: Float[Tensor, "batch time dim"] = self.embed(ids)
        pooled: Float[Tensor, "batch query dim"] = self.pool(x, mask)
        flat: Float[Tensor, "batch query features"] = pooled.flatten(1)
        return self.head(flat)


def accuracy(logits: Float[Tensor, "batch classes"], labels: Int[Tensor, "batch"]) -> float:
    predicted: Int[Tensor, "batch"] = logits.argmax(dim=-1)
    return (predicted == labels).float().mean().item()


def main() -> None:
    torch.manual_seed(0)
    model = SetClassifier(vocab=30, dim=16, classes=3)
    ids = torch.randint(0, 30, (5, 11))
    labels = torch.tensor([0, 1, 2, 1, 0])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(2):
        logits = model(ids)
        loss = nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item(), accuracy(logits.detach(), labels))


if __name__ == "__main__":
    main()
