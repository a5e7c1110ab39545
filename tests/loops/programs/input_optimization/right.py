import torch
from torch import nn

features = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU()).eval()
for parameter in features.parameters():
    parameter.requires_grad_(False)
content = torch.rand(1, 3, 8, 8)
target = features(content)
canvas = torch.rand_like(content).requires_grad_(True)
optimizer = torch.optim.Adam([canvas], lr=0.05)

for step in range(8):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(features(canvas), target)
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        canvas.clamp_(0, 1)
