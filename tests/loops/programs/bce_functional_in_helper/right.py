import torch
import torch.nn.functional as F
from torch import nn


def focal_loss(logits, targets, gamma=2.0):
    probs = logits.sigmoid()
    bce = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    p_t = probs * targets + (1 - probs) * (1 - targets)
    return (bce * (1 - p_t) ** gamma).mean()


def train_step(model, optimizer, scaler, x, y):
    optimizer.zero_grad()
    with torch.cuda.amp.autocast():
        loss = focal_loss(model(x).squeeze(1), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


model = nn.Linear(8, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
scaler = torch.cuda.amp.GradScaler()
for _ in range(2):
    train_step(model, optimizer, scaler, torch.randn(4, 8).cuda(), torch.rand(4).round().cuda())
