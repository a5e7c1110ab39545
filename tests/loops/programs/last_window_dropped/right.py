import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUM = 4
EPOCHS = 3
dataset = TensorDataset(torch.randn(36, 6), torch.randn(36, 1))
loader = DataLoader(dataset, batch_size=6)
model = nn.Linear(6, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(EPOCHS):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(loader):
        loss = nn.functional.mse_loss(model(x), y) / ACCUM
        loss.backward()
        if (i + 1) % ACCUM == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
