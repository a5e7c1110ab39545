import os

import torch
from torch import nn

backbone = nn.Linear(4, 8)
torch.save(backbone.state_dict(), "backbone.pt")
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
model[0].load_state_dict(torch.load("backbone.pt"))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
os.makedirs("weights", exist_ok=True)
for epoch in range(3):
    nn.functional.cross_entropy(model(torch.randn(4, 4)), torch.randint(0, 2, (4,))).backward()
    optimizer.step()
    optimizer.zero_grad()
    torch.save(model.state_dict(), f"weights/epoch_{epoch}.pt")
