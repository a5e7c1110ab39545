"""Code that checks shapes itself: asserts that hold, errors that are caught, tests that expect a failure."""
import torch
import torch.nn.functional as F
from torch import nn


class ShapeError(ValueError):
    pass


def check(x, *expected):
    """Compares the shape with the expected sizes; None matches all."""
    if x.dim() != len(expected):
        raise ShapeError(f"expected {len(expected)} dimensions, got {tuple(x.shape)}")
    for actual, wanted in zip(x.shape, expected):
        if wanted is not None and actual != wanted:
            raise ShapeError(f"expected {expected}, got {tuple(x.shape)}")
    return x


class Guarded(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0, (dim, heads)
        self.dim, self.heads = dim, heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        check(x, None, None, self.dim)
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        assert q.shape == k.shape == v.shape == (b, self.heads, t, self.dim // self.heads)
        scores = q @ k.transpose(-2, -1)
        if mask is not None:
            assert mask.shape in ((t, t), (b, 1, t, t)), mask.shape
            scores = scores + mask
        y = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
        assert y.shape == x.shape
        return self.out(y)


def try_broadcast(a, b):
    try:
        return a + b
    except RuntimeError:
        return None


def compatible(a, b):
    return all(m == n or m == 1 or n == 1 for m, n in zip(reversed(a.shape), reversed(b.shape)))


def safe_cat(tensors, dim=0):
    shapes = {t.shape[:dim] + t.shape[dim + 1:] for t in tensors}
    if len(shapes) != 1:
        smallest = min(t.shape[-1] for t in tensors)
        tensors = [t[..., :smallest] for t in tensors]
    return torch.cat(tensors, dim)


def test_rejects_wrong_width():
    layer = Guarded(12, 3)
    try:
        layer(torch.randn(2, 5, 10))
    except ShapeError:
        caught = True
    else:
        caught = False
    assert caught


def main():
    torch.manual_seed(0)
    layer = Guarded(12, 3)
    x = torch.randn(2, 5, 12)
    plain = layer(x)
    causal = torch.full((5, 5), float("-inf")).triu(1)
    masked = layer(x, causal)
    per_batch = layer(x, torch.zeros(2, 1, 5, 5))
    a, b, c = torch.ones(3, 4), torch.ones(4), torch.ones(3)
    good = try_broadcast(a, b)
    bad = try_broadcast(a, c) if compatible(a, c) else None
    joined = safe_cat([torch.ones(2, 6), torch.ones(3, 4)])
    width = 7 if x.size(-1) == 14 else 12
    projected = F.linear(x, torch.randn(8, width))
    test_rejects_wrong_width()
    print(plain.shape, masked.shape, per_batch.shape, good.shape, bad, joined.shape, projected.shape)


if __name__ == "__main__":
    main()
