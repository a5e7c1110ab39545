import torch
from torch import nn

model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(5):
    x, y = torch.randn(16, 6), torch.randint(0, 2, (16,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.step()
    print(epoch, loss.item())
