import torch
from torch import nn

model = nn.Linear(6, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for step in range(4):
    losses = []
    for _ in range(3):
        x, y = torch.randn(4, 6), torch.randint(0, 3, (4,))
        losses.append(nn.functional.cross_entropy(model(x), y).item())
    loss = torch.tensor(losses, requires_grad=True).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
