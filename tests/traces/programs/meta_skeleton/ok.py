"""Builds a model without memory on the meta device, sizes it up, then fills it layer by layer."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim, device=None):
        super().__init__()
        self.norm = nn.LayerNorm(dim, device=device)
        self.up = nn.Linear(dim, 4 * dim, device=device)
        self.down = nn.Linear(4 * dim, dim, device=device)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


class Model(nn.Module):
    def __init__(self, vocab, dim, depth, device=None):
        super().__init__()
        self.dim = dim
        self.embed = nn.Embedding(vocab, dim, device=device)
        self.blocks = nn.ModuleList([Block(dim, device=device) for _ in range(depth)])
        self.head = nn.Linear(dim, vocab, bias=False, device=device)

    def forward(self, ids, offset=None):
        x = self.embed(ids)
        if offset is not None:
            x = x + offset
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def count(model):
    return sum(p.numel() for p in model.parameters())


def skeleton(vocab, dim, depth):
    """The model without storage, and the shape of what it returns."""
    model = Model(vocab, dim, depth, device="meta")
    ids = torch.zeros(2, 7, dtype=torch.long, device="meta")
    offset = torch.zeros(dim, device="meta")
    logits = model(ids, offset)
    return model, tuple(logits.shape)


def materialize(model, std=0.02):
    model = model.to_empty(device="cpu")
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1:
                parameter.normal_(0.0, std)
            elif name.endswith("norm.weight"):
                parameter.fill_(1.0)
            else:
                parameter.zero_()
    return model


def main():
    torch.manual_seed(0)
    model, shape = skeleton(vocab=50, dim=16, depth=2)
    size = count(model)
    model = materialize(model)
    ids = torch.randint(0, 50, (3, 9))
    offset = torch.linspace(-1, 1, model.dim)
    logits = model(ids, offset)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten())
    loss.backward()
    print(size, shape, loss.item())


if __name__ == "__main__":
    main()
