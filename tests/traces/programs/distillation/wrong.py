# A small student learns from a frozen teacher: soft targets, hard targets, hidden-state matching.
import torch
import torch.nn as nn
import torch.nn.functional as F


def make_mlp(sizes, activation=nn.ReLU):
    layers = []
    for i in range(len(sizes) - 1):
        layers.append(nn.Linear(sizes[i], sizes[i + 1]))
        if i < len(sizes) - 2:
            layers.append(activation())
    return nn.Sequential(*layers)


class Teacher(nn.Module):
    hidden = 64

    def __init__(self, inputs, classes):
        super().__init__()
        self.body = make_mlp([inputs, 96, self.hidden])
        self.head = nn.Linear(self.hidden, classes)

    def forward(self, x):
        h = torch.relu(self.body(x))
        return self.head(h), h


class Student(Teacher):
    hidden = 20

    def __init__(self, inputs, classes):
        super().__init__(inputs, classes)
        self.body = make_mlp([inputs, self.hidden])
        self.adapt = nn.Linear(self.hidden, Teacher.hidden)

    def forward(self, x):
        logits, h = super().forward(x)
        return logits, h


class DistillationLoss(nn.Module):
    def __init__(self, temperature=4.0, alpha=0.7, beta=0.1):
        super().__init__()
        self.temperature = temperature
        self.alpha = alpha
        self.beta = beta

    def forward(self, student, teacher, labels):
        s_logits, s_hidden = student
        t_logits, t_hidden = teacher
        T = self.temperature
        log_p = F.log_softmax(s_logits / T, dim=-1)
        q = F.softmax(t_logits / T, dim=-1)
        soft = F.kl_div(log_p, q, reduction="batchmean") * T * T
        hard = F.cross_entropy(s_logits, labels)
        hint = F.mse_loss(s_hidden, t_hidden)
        return self.alpha * soft + (1 - self.alpha) * hard + self.beta * hint


def train(student, teacher, x, y, steps=4):
    teacher.eval()
    student.train()
    criterion = DistillationLoss()
    optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
    for step in range(steps):
        with torch.no_grad():
            taught = teacher(x)
        learned = student(x)
        loss = criterion(learned, taught, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(0)
x, y = torch.randn(24, 30), torch.randint(0, 7, (24,))
teacher, student = Teacher(30, 7), Student(30, 7)
for p in teacher.parameters():
    p.requires_grad_(False)
final = train(student, teacher, x, y)
student.eval()
with torch.no_grad():
    agreement = (student(x)[0].argmax(1) == teacher(x)[0].argmax(1)).float().mean()
print(final, agreement.item())
