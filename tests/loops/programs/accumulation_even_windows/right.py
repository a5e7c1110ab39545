import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accum = 2
loader = DataLoader(TensorDataset(torch.randn(48, 5), torch.randn(48, 1)), batch_size=6, drop_last=True)
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
optimizer.zero_grad()
for step, (x, y) in enumerate(loader, start=1):
    (nn.functional.mse_loss(model(x), y) / accum).backward()
    if step % accum == 0:
        optimizer.step()
        optimizer.zero_grad()
    if step % 4 == 0:
        print(step)
