import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


class Windows(Dataset):
    def __init__(self, series, length):
        self.series, self.length = series, length

    def __len__(self):
        return len(self.series) - self.length

    def __getitem__(self, i):
        return self.series[i:i + self.length], self.series[i + self.length]


series = torch.sin(torch.linspace(0, 20, 220))
train_set, val_set = Windows(series[:170], 20), Windows(series[170:], 20)
model = nn.Linear(20, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for x, y in DataLoader(train_set, batch_size=16, shuffle=True):
    loss = nn.functional.mse_loss(model(x).squeeze(1), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    print(sum(nn.functional.mse_loss(model(x).squeeze(1), y).item() for x, y in DataLoader(val_set, batch_size=16)))
