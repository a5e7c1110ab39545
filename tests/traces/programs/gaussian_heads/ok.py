# Regression with uncertainty: a mean head and a log-variance head, an ensemble on top. Library style.
import torch
import torch.nn as nn


def softplus_inverse(x):
    return torch.log(torch.expm1(torch.as_tensor(x)))


class GaussianMLP(nn.Module):
    def __init__(self, n_inputs, width=32, depth=2, min_std=1e-3):
        super().__init__()
        layers = []
        previous = n_inputs
        for _ in range(depth):
            layers.extend((nn.Linear(previous, width), nn.SiLU()))
            previous = width
        self.body = nn.Sequential(*layers)
        self.mean = nn.Linear(width, 1)
        self.raw_std = nn.Linear(width, 1)
        self.min_std = min_std

    def forward(self, x):
        h = self.body(x)
        mean = self.mean(h)
        std = nn.functional.softplus(self.raw_std(h)) + self.min_std
        return mean.squeeze(-1), std.squeeze(-1)


def negative_log_likelihood(mean, std, y):
    z = (y - mean) / std
    return (0.5 * z ** 2 + std.log()).mean()


class Ensemble(nn.Module):
    def __init__(self, members, n_inputs):
        super().__init__()
        self.members = nn.ModuleList([GaussianMLP(n_inputs) for _ in range(members)])

    def forward(self, x):
        means, stds = zip(*(member(x) for member in self.members))
        means = torch.stack(means)
        variances = torch.stack(stds) ** 2
        mean = means.mean(dim=0)
        variance = (variances + means ** 2).mean(dim=0) - mean ** 2
        return mean, variance.clamp(min=1e-8).sqrt()


def fit_member(model, x, y, steps=20, lr=1e-2):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for _ in range(steps):
        mean, std = model(x)
        loss = negative_log_likelihood(mean, std, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def demo():
    x = torch.linspace(-2, 2, 40).unsqueeze(1)
    y = torch.sin(3 * x[:, 0]) + 0.1 * torch.randn(40)
    ensemble = Ensemble(3, 1)
    losses = [fit_member(member, x, y) for member in ensemble.members]
    with torch.no_grad():
        mean, std = ensemble(x)
        inside = ((y - mean).abs() < 2 * std).float().mean()
    return losses, inside
