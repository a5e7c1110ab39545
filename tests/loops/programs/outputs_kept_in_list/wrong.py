import torch
from torch import nn

model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 16))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
saved = []

for i in range(12):
    batch = torch.randn(8, 16)
    outputs = model(batch)
    loss = nn.functional.mse_loss(outputs, batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    saved.append(outputs)

print(torch.stack([each.abs().mean() for each in saved]))
