# ResNet-50 of torchvision in float32, SGD with momentum.
import torch
import torchvision
from torch.nn import functional as F

model = torchvision.models.resnet50(num_classes=1000).cuda().train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
images = torch.randn(32, 3, 224, 224, device="cuda")
labels = torch.randint(0, 1000, (32,), device="cuda")
for step in range(3):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
