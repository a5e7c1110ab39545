import torch
import torch.nn.functional as F
from torch import nn


def train_one_epoch(model, optimizer, xs, ys):
    for x, y in zip(xs.split(8), ys.split(8)):
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()


def main():
    xs, ys = torch.randn(32, 5), torch.randint(0, 2, (32,))
    model = nn.Linear(5, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    optimizer.zero_grad()
    for epoch in range(4):
        train_one_epoch(model, optimizer, xs, ys)


if __name__ == "__main__":
    main()
