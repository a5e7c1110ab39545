import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(40, 7), torch.randn(40, 1)), batch_size=8)
model = nn.Linear(7, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
