import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

series = torch.cumsum(torch.randn(130), 0)
cut = 100
mean, std = series[:cut].mean(), series[:cut].std()
series = (series - mean) / std
windows = series.unfold(0, 11, 1)
dataset = TensorDataset(windows[:, :10], windows[:, 10:])
train = Subset(dataset, range(0, cut - 10))
test = Subset(dataset, range(cut, len(dataset)))
model = nn.Sequential(nn.Linear(10, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for x, y in DataLoader(train, batch_size=15, shuffle=True):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
model.eval()
with torch.no_grad():
    print([nn.functional.mse_loss(model(x), y).item() for x, y in DataLoader(test, batch_size=19)])
