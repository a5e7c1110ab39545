import torch
from torch import nn

model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.BCELoss()
for step in range(4):
    x, y = torch.randn(4, 8), torch.rand(4, 1).round()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = criterion(torch.sigmoid(model(x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
