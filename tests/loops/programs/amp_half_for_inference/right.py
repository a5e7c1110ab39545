import torch
from torch import nn

teacher = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).cuda().half().eval()
student = nn.Linear(64, 10).cuda()
optimizer = torch.optim.AdamW(student.parameters(), lr=1e-3)

for step in range(100):
    x = torch.randn(32, 64, device="cuda")
    with torch.no_grad():
        soft = teacher(x.half()).float().softmax(dim=-1)
    loss = nn.functional.cross_entropy(student(x), soft)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
