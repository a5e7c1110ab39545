import torch
from torch import nn


def evaluate(model, loader, device):
    model.eval()
    losses = []
    with torch.no_grad():
        for x, y in loader:
            losses.append(nn.functional.cross_entropy(model(x.to(device)), y.to(device)).item())
    return sum(losses) / len(losses)


def build():
    return nn.Sequential(nn.Linear(64, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Dropout(), nn.Linear(128, 10))


def main(train_loader, val_loader, device="cpu"):
    model = build().to(device)
    opt = torch.optim.Adam(model.parameters())
    for epoch in range(10):
        model.train()
        for x, y in train_loader:
            opt.zero_grad()
            nn.functional.cross_entropy(model(x.to(device)), y.to(device)).backward()
            opt.step()
        print(epoch, evaluate(model, val_loader, device))


def batches(count):
    return [(torch.randn(8, 64), torch.randint(10, (8,))) for _ in range(count)]


main(batches(4), batches(2))
