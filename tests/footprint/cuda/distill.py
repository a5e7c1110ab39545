# A student learns from a teacher that runs without a graph.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torchvision import models

teacher = models.resnet50(num_classes=100).cuda().eval()
student = models.mobilenet_v2(num_classes=100).cuda()
for p in teacher.parameters():
    p.requires_grad_(False)
optimizer = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9, weight_decay=4e-5)
T, alpha = 4.0, 0.9
x = torch.randn(32, 3, 224, 224, device="cuda")
y = torch.randint(0, 100, (32,), device="cuda")
for it in range(3):
    with torch.no_grad():
        t_logits = teacher(x)
    s_logits = student(x)
    kd = F.kl_div(F.log_softmax(s_logits / T, dim=1), F.softmax(t_logits / T, dim=1), reduction="batchmean") * T * T
    loss = alpha * kd + (1 - alpha) * F.cross_entropy(s_logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
