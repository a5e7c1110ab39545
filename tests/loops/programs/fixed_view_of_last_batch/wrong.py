import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BATCH, LENGTH = 8, 5
loader = DataLoader(TensorDataset(torch.randn(30, LENGTH, 4)), batch_size=BATCH)
model = nn.Linear(LENGTH * 4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for (x,) in loader:
    flat = x.view(BATCH, LENGTH * 4)
    loss = model(flat).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
