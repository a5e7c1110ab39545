"""Helpers that take tensors of any rank, and callers that give them several."""
import torch
from torch import nn


def ensure_batch(x, rank):
    """Adds leading dimensions until the tensor has this rank."""
    while x.dim() < rank:
        x = x.unsqueeze(0)
    return x


def normalize(x, dims=None, eps=1e-5):
    if dims is None:
        dims = tuple(range(1, x.ndim))
    mean = x.mean(dim=dims, keepdim=True)
    var = x.var(dim=dims, keepdim=True, unbiased=False)
    return (x - mean) / torch.sqrt(var + eps)


def masked_mean(x, mask, dim):
    while mask.dim() < x.dim():
        mask = mask.unsqueeze(-1)
    total = (x * mask).sum(dim=dim)
    return total / mask.sum(dim=dim).clamp(min=1)


def to_image(x):
    if x.dim() == 2:
        return x[None, None]
    if x.dim() == 3:
        return x.unsqueeze(0)
    if x.dim() == 4:
        return x
    raise ValueError(f"cannot make an image of {tuple(x.shape)}")


def batched_apply(module, x):
    """Applies the module to the last dimensions whatever leads."""
    *lead, features = x.shape
    out = module(x.reshape(-1, features))
    return out.reshape(*lead, out.shape[-1])


class Flexible(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.channels = channels
        self.conv1d = nn.Conv1d(channels, channels, 3, padding=1)
        self.conv2d = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        squeeze = False
        if x.dim() == 2:
            x = x.unsqueeze(0)
            squeeze = True
        conv = self.conv1d if x.dim() == 3 else self.conv2d
        out = conv(x)
        return out.squeeze(0) if squeeze else out


def main():
    torch.manual_seed(0)
    vector = torch.randn(5)
    matrix = ensure_batch(vector, 2)
    cube = ensure_batch(vector, 3)
    images = torch.randn(2, 3, 8, 8)
    n1 = normalize(images)
    n2 = normalize(images, dims=(2, 3))
    n3 = normalize(torch.randn(4, 6))

    tokens = torch.randn(2, 7, 6)
    mask = torch.ones(2, 7)
    mask[1, 4:] = 0
    m1 = masked_mean(tokens, mask, dim=1)
    m2 = masked_mean(tokens[..., 0], mask, dim=1)

    pictures = [to_image(torch.rand(8, 8)), to_image(torch.rand(3, 8, 8)), to_image(images)]
    shapes = [tuple(p.shape) for p in pictures]

    linear = nn.Linear(6, 4)
    a = batched_apply(linear, tokens)
    b = batched_apply(linear, tokens[0])
    c = batched_apply(linear, tokens[0, 0])

    flexible = Flexible(3)
    f1 = flexible(torch.randn(3, 10))
    f2 = flexible(torch.randn(2, 3, 10))
    f3 = flexible(images)
    print(matrix.shape, cube.shape, n1.shape, n2.shape, n3.shape, m1.shape, m2.shape, shapes)
    print(a.shape, b.shape, c.shape, f1.shape, f2.shape, f3.shape)


if __name__ == "__main__":
    main()
