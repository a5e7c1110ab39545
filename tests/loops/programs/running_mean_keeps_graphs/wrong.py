import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
mean = 0.0
for step in range(40):
    loss = model(torch.randn(16, 4)).pow(2).mean()
    mean = 0.98 * mean + 0.02 * loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(float(mean))
