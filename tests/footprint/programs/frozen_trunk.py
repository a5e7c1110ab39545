# A trunk that is not trained and runs under no_grad keeps nothing.
import torch
import torch.nn as nn


trunk = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
for p in trunk.parameters():
    p.requires_grad_(False)
head = nn.Linear(32, 4)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
images, labels = torch.randn(6, 3, 20, 20), torch.randint(0, 4, (6,))
with torch.no_grad():
    features = trunk(images)
loss = nn.CrossEntropyLoss()(head(features), labels)
loss.backward()
optimizer.step()
