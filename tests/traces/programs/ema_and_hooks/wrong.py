"""Training with an averaged copy of the weights, hooks that keep activations, parameter groups and a custom autograd function."""
import copy
import weakref

import torch
import torch.nn as nn
import torch.nn.functional as F


class StraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x.abs() <= 1).to(grad_output.dtype)


class Quantizer(nn.Module):
    """Nearest codebook entry, gradients passed straight through."""

    def __init__(self, codes, dim, commitment=0.25):
        super().__init__()
        self.embedding = nn.Embedding(codes, dim)
        self.commitment = commitment
        nn.init.uniform_(self.embedding.weight, -1.0 / codes, 1.0 / codes)

    def forward(self, z):
        flat = z.reshape(-1, z.shape[-1])
        distances = (
            flat.pow(2).sum(dim=1, keepdim=True)
            - 2 * flat @ self.embedding.weight
            + self.embedding.weight.pow(2).sum(dim=1)
        )
        indices = distances.argmin(dim=1)
        quantized = self.embedding(indices).view_as(z)
        codebook_loss = F.mse_loss(quantized, z.detach())
        commitment_loss = F.mse_loss(z, quantized.detach())
        quantized = z + (quantized - z).detach()
        loss = codebook_loss + self.commitment * commitment_loss
        return quantized, indices.view(z.shape[:-1]), loss


class Net(nn.Module):
    def __init__(self, inputs=12, dim=16, codes=20):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(inputs, dim), nn.Tanh(), nn.Linear(dim, dim))
        self.quantizer = Quantizer(codes, dim)
        self.decoder = nn.Linear(dim, inputs)

    def forward(self, x):
        z = self.encoder(x)
        gate = StraightThrough.apply(z)
        quantized, indices, loss = self.quantizer(z * gate)
        return self.decoder(quantized), indices, loss


class EMA:
    def __init__(self, model, decay=0.99):
        self.decay = decay
        self.shadow = copy.deepcopy(model).eval()
        for p in self.shadow.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for average, current in zip(self.shadow.parameters(), model.parameters()):
            average.lerp_(current, 1 - self.decay)


def watch(module, store):
    reference = weakref.ref(module)

    def hook(mod, inputs, output):
        store.append((type(reference()).__name__, tuple(output.shape)))

    return module.register_forward_hook(hook)


def parameter_groups(model, weight_decay):
    decay, keep = [], []
    for name, p in model.named_parameters():
        (keep if p.dim() < 2 or "embedding" in name else decay).append(p)
    return [{"params": decay, "weight_decay": weight_decay}, {"params": keep, "weight_decay": 0.0}]


def main():
    torch.manual_seed(0)
    model = Net()
    ema = EMA(model)
    activations = []
    handle = watch(model.decoder, activations)
    optimizer = torch.optim.AdamW(parameter_groups(model, 0.05), lr=1e-3)
    data = torch.randn(5, 6, 12)
    for _ in range(3):
        output, codes, vq_loss = model(data)
        loss = F.mse_loss(output, data) + vq_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update(model)
    handle.remove()
    with torch.no_grad():
        smooth, codes, _ = ema.shadow(data)
        gap = (smooth - data).pow(2).mean(dim=(1, 2))
        usage = F.one_hot(codes, 20).sum(dim=(0, 1))
    print(loss.item(), activations[-1], gap.shape, usage.shape)


if __name__ == "__main__":
    main()
