import torch
from torch import nn

accum = 4
model = nn.Linear(5, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = [(torch.randn(3, 5), torch.randint(0, 2, (3,))) for _ in range(16)]

optimizer.zero_grad()
for i, (x, y) in enumerate(data):
    loss = nn.functional.cross_entropy(model(x), y) / accum
    loss.backward()
    if (i + 1) % accum == 0:
        optimizer.step()
        optimizer.zero_grad()
