import torch
from torch import nn


def compute_gradients(model, x, y):
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    return loss.item()


def apply_gradients(optimizer):
    optimizer.step()


def run(model, batches, optimizers):
    for x, y in batches:
        for optimizer in optimizers.values():
            optimizer.zero_grad()
        compute_gradients(model, x, y)
        for name in sorted(optimizers):
            apply_gradients(optimizers[name])


model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizers = {
    "weights": torch.optim.SGD([p for p in model.parameters() if p.dim() > 1], lr=0.1),
    "biases": torch.optim.Adam([p for p in model.parameters() if p.dim() == 1], lr=1e-3),
}
run(model, [(torch.randn(4, 4), torch.randint(0, 2, (4,))) for _ in range(4)], optimizers)
