import torch
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

train = TensorDataset(torch.randn(24, 4), torch.randn(24, 1))
val = TensorDataset(torch.randn(8, 4), torch.randn(8, 1))
val_loader = DataLoader(val, batch_size=4, sampler=DistributedSampler(val, num_replicas=2, rank=0, shuffle=False))
loader = DataLoader(train, batch_size=4, sampler=DistributedSampler(train, num_replicas=2, rank=0))
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
for attempt in range(2):
    with torch.no_grad():
        print(sum(nn.functional.mse_loss(model(x), y).item() for x, y in val_loader))
