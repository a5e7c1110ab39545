import torch
from torch import nn

model = nn.Linear(6, 2)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(4):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(torch.randn(4, 6)), torch.randint(0, 2, (4,))).backward()
    optimizer.step()
