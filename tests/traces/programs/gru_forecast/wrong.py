"""Forecast the next value of a noisy sine with a GRU over sliding windows."""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

torch.manual_seed(0)
WINDOW = 24
FEATURES = 3


def make_series(length=200):
    t = torch.arange(length, dtype=torch.float32)
    first = torch.sin(2 * math.pi * t / 24)
    second = torch.cos(2 * math.pi * t / 12)
    third = 0.1 * torch.randn(length)
    return torch.stack([first, second, third], dim=1)


class WindowDataset(Dataset):
    def __init__(self, series, window):
        self.series = series
        self.window = window

    def __len__(self):
        return self.series.shape[0] - self.window

    def __getitem__(self, i):
        x = self.series[i:i + self.window]
        y = self.series[i + self.window, 0]
        return x, y


class Forecaster(nn.Module):
    def __init__(self, n_features, hidden=32, layers=1):
        super().__init__()
        self.gru = nn.GRU(n_features, hidden, layers, batch_first=True)
        self.norm = nn.LayerNorm(hidden)
        self.head = nn.Sequential(nn.Linear(hidden, hidden // 2), nn.Tanh(), nn.Linear(hidden // 2, 1))

    def forward(self, x):
        out, h_n = self.gru(x)
        last = self.norm(out[:, -1, :])
        return self.head(last)


series = make_series()
dataset = WindowDataset(series, WINDOW)
train_len = 140
train_set, valid_set = Subset(dataset, range(train_len)), Subset(dataset, range(train_len, len(dataset)))
train_loader = DataLoader(train_set, batch_size=32, shuffle=True, drop_last=True)
valid_loader = DataLoader(valid_set, batch_size=32)

model = Forecaster(FEATURES)
loss_fn = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def run_epoch():
    model.train()
    losses = []
    for x, y in train_loader:
        prediction = model(x)
        loss = loss_fn(prediction, y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


def validate():
    model.eval()
    errors = []
    with torch.no_grad():
        for x, y in valid_loader:
            prediction = model(x)
            error = (prediction.squeeze(1) - y).abs()
            errors.append(error)
    return torch.cat(errors).mean().item()


for epoch in range(2):
    train_loss = run_epoch()
    mae = validate()
    print(epoch, train_loss, mae)
