import torch
from torch import nn

model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3), nn.LogSoftmax(dim=1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
for _ in range(4):
    x, y = torch.randn(6, 5), torch.randint(0, 3, (6,))
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
