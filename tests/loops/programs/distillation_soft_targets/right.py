import torch
import torch.nn.functional as F
from torch import nn

teacher = nn.Linear(6, 4).eval()
student = nn.Linear(6, 4)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
temperature = 2.0
for _ in range(4):
    x, y = torch.randn(8, 6), torch.randint(0, 4, (8,))
    with torch.no_grad():
        soft = torch.softmax(teacher(x) / temperature, dim=1)
    logits = student(x)
    probs = torch.softmax(logits, dim=1)
    confidence = probs.max(dim=1).values.mean().item()
    kd = F.kl_div(F.log_softmax(logits / temperature, dim=1), soft, reduction="batchmean")
    loss = F.cross_entropy(logits, y) + F.cross_entropy(logits, soft) + kd * temperature ** 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
