import copy

import torch
from torch import nn


class MeanTeacher:
    def __init__(self, student, decay=0.99):
        self.student = student
        self.teacher = copy.deepcopy(student)
        self.decay = decay
        for p in self.teacher.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self):
        for t, s in zip(self.teacher.parameters(), self.student.parameters()):
            t.mul_(self.decay).add_(s, alpha=1 - self.decay)

    def loss(self, x):
        noisy = x + 0.1 * torch.randn_like(x)
        with torch.no_grad():
            goal = self.teacher(x)
        return nn.functional.mse_loss(self.student(noisy), goal)


pair = MeanTeacher(nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 2)))
optimizer = torch.optim.Adam(pair.student.parameters(), lr=1e-3)
consistency = []
for _ in range(5):
    loss = pair.loss(torch.randn(8, 4))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    pair.update()
    consistency.append(loss.item())
