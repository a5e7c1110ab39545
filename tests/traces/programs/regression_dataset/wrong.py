"""Fit an MLP to tabular numbers that come as NumPy arrays."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def make_data(n=64, features=6, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.randn(n, features)
    w = rng.randn(features, 1)
    y = X @ w + 0.1 * rng.randn(n, 1)
    return X, y


class NumpyDataset(Dataset):
    def __init__(self, X, y):
        self.X = torch.from_numpy(X)
        self.y = torch.from_numpy(y).float()

    def __len__(self):
        return len(self.X)

    def __getitem__(self, idx):
        return self.X[idx], self.y[idx]


class MLP(nn.Module):
    def __init__(self, n_inputs, hidden_layers=(32, 16)):
        super().__init__()
        sizes = [n_inputs, *hidden_layers]
        self.hidden = nn.ModuleList(nn.Linear(i, o) for i, o in zip(sizes, sizes[1:]))
        self.output = nn.Linear(sizes[-1], 1)

    def forward(self, x):
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return self.output(x)


class EarlyStopping:
    def __init__(self, patience=3):
        self.patience = patience
        self.best = float("inf")
        self.bad = 0

    def step(self, value):
        if value < self.best:
            self.best, self.bad = value, 0
        else:
            self.bad += 1
        return self.bad >= self.patience


def main():
    torch.manual_seed(0)
    X, y = make_data()
    train_ds = NumpyDataset(X[:48], y[:48])
    valid_ds = NumpyDataset(X[48:], y[48:])
    train_dl = DataLoader(train_ds, batch_size=16, shuffle=True)
    valid_dl = DataLoader(valid_ds, batch_size=16)
    model = MLP(6)
    loss_fn = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    stopper = EarlyStopping()
    for epoch in range(3):
        model.train()
        for xb, yb in train_dl:
            pred = model(xb)
            loss = loss_fn(pred, yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            total = sum(loss_fn(model(xb), yb).item() * len(xb) for xb, yb in valid_dl)
        score = total / len(valid_ds)
        print(epoch, loss.item(), score)
        if stopper.step(score):
            break


if __name__ == "__main__":
    main()
