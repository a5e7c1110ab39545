# A head on a frozen ResNet-18 that runs without a graph.
import torch
import torch.nn as nn
import torchvision

backbone = torchvision.models.resnet18().cuda().eval()
backbone.fc = nn.Identity()
head = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Dropout(0.5), nn.Linear(1024, 100)).cuda()
optimizer = torch.optim.Adam(head.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
images = torch.randn(64, 3, 224, 224, device="cuda")
labels = torch.randint(0, 100, (64,), device="cuda")
for step in range(3):
    with torch.no_grad():
        features = backbone(images)
    loss = criterion(head(features), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
