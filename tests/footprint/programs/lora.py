# A frozen model with small trained matrices beside its own.
import torch
import torch.nn as nn
import torch.nn.functional as F


class LoRALinear(nn.Module):
    def __init__(self, base, rank=4, alpha=8):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        self.a = nn.Parameter(torch.zeros(rank, base.in_features))
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.a), self.b) * self.scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = LoRALinear(nn.Linear(64, 128))
        self.l2 = LoRALinear(nn.Linear(128, 64))
        self.head = nn.Linear(64, 8)

    def forward(self, x):
        return self.head(self.l2(torch.relu(self.l1(x))))


model = Net()
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)
x, y = torch.randn(32, 64), torch.randn(32, 8)
loss = F.mse_loss(model(x), y)
loss.backward()
optimizer.step()
