# Forecast prices from sliding windows: scaling, splitting and batching in NumPy, a CNN-LSTM in PyTorch.
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

LOOKBACK, HORIZON, FEATURES = 24, 3, 5


class MinMaxScaler:
    def fit(self, X):
        self.low = X.min(axis=0)
        self.high = X.max(axis=0)
        return self

    def transform(self, X):
        return (X - self.low) / (self.high - self.low + 1e-8)


def make_series(n=200):
    rng = np.random.RandomState(7)
    steps = rng.normal(0, 1, size=(n, FEATURES))
    return np.cumsum(steps, axis=0) + 50


def windows(series, lookback, horizon):
    xs, ys = [], []
    for start in range(len(series) - lookback - horizon + 1):
        xs.append(series[start:start + lookback])
        ys.append(series[start + lookback:start + lookback + horizon, 0])
    return np.array(xs), np.array(ys)


class CNNLSTM(nn.Module):
    def __init__(self, features, channels=16, hidden=32, horizon=HORIZON, layers=2, dropout=0.1):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(features, channels, 3, padding=1), nn.ReLU(), nn.MaxPool1d(2))
        self.lstm = nn.LSTM(channels, hidden, layers, batch_first=True, dropout=dropout)
        self.fc = nn.Linear(hidden, horizon)

    def forward(self, x):
        x = self.conv(x.permute(0, 2, 1)).permute(0, 2, 1)
        out, (hn, cn) = self.lstm(x)
        return self.fc(out[:, -1, :])


def evaluate(model, loader, criterion):
    model.eval()
    total, count = 0.0, 0
    with torch.no_grad():
        for xb, yb in loader:
            total += criterion(model(xb), yb).item() * xb.size(0)
            count += xb.size(0)
    return total / count


def main():
    torch.manual_seed(0)
    series = make_series()
    cut = int(len(series) * 0.8)
    scaler = MinMaxScaler().fit(series[:cut])
    train, test = scaler.transform(series[:cut]), scaler.transform(series[cut:])
    X_train, y_train = windows(train, LOOKBACK, HORIZON)
    X_test, y_test = windows(test, LOOKBACK, HORIZON)
    X_train = torch.tensor(X_train, dtype=torch.float32)
    y_train = torch.tensor(y_train, dtype=torch.float32)
    train_loader = DataLoader(TensorDataset(X_train, y_train), batch_size=32, shuffle=True)
    test_loader = DataLoader(TensorDataset(torch.FloatTensor(X_test), torch.FloatTensor(y_test)), batch_size=32)
    model = CNNLSTM(X_train.shape[1])
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(2):
        model.train()
        for xb, yb in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
        print(epoch, loss.item(), evaluate(model, test_loader, criterion))


if __name__ == "__main__":
    main()
