import torch
from torch import nn


def train_epoch(model, batches, optimizer, scaler):
    model.train()
    for images, labels in batches:
        images, labels = images.cuda(), labels.cuda()
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            logits = model(images)
            loss = nn.functional.cross_entropy(logits, labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


model = nn.Sequential(nn.Flatten(), nn.Linear(48, 10)).cuda()
batches = [(torch.randn(4, 3, 4, 4), torch.randint(0, 10, (4,))) for _ in range(3)]
train_epoch(model, batches, torch.optim.SGD(model.parameters(), lr=0.1), torch.amp.GradScaler("cuda"))
