# ResNet-50 of torchvision under float16 autocast with a GradScaler, channels last, two batches for each step.
import torch
import torchvision
from torch import nn

device = torch.device("cuda")
model = torchvision.models.resnet50(num_classes=1000).to(device, memory_format=torch.channels_last)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
scaler = torch.amp.GradScaler("cuda")
images = torch.randn(32, 3, 224, 224, device=device).to(memory_format=torch.channels_last)
labels = torch.randint(0, 1000, (32,), device=device)
for step in range(6):
    with torch.amp.autocast("cuda", dtype=torch.float16):
        output = model(images)
        loss = criterion(output, labels) / 2
    scaler.scale(loss).backward()
    if (step + 1) % 2 == 0:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
