import copy

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(50, 80), nn.BatchNorm1d(80), nn.ReLU(True), nn.Linear(80, 80), nn.BatchNorm1d(80), nn.ReLU(True))
        self.projector = nn.Linear(80, 20)

    def forward(self, x):
        return nn.functional.normalize(self.projector(self.encoder(x)), dim=-1)


student = Student()
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad_(False)
average = AveragedModel(student, multi_avg_fn=get_ema_multi_avg_fn(0.99))
optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9)
x1, x2 = torch.randn(12, 50), torch.randn(12, 50)
out = student(x1)
with torch.no_grad():
    target = teacher(x2)
loss = (2 - 2 * (out * target).sum(dim=-1)).mean()
loss.backward()
optimizer.step()
with torch.no_grad():
    for p, q in zip(student.parameters(), teacher.parameters()):
        q.lerp_(p, 0.01)
average.update_parameters(student)
