import torch
from torch import nn


class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(4, 2)
        for p in self.body.parameters():
            p.requires_grad = False

    def train(self, mode=True):
        super().train(mode)
        self.body.eval()
        return self

    def forward(self, x):
        return self.head(self.body(x))


model = Frozen()
optimizer = torch.optim.SGD(model.head.parameters(), lr=0.1)
model.train()
for _ in range(4):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(torch.randn(2, 3, 6, 6)), torch.randint(0, 2, (2,))).backward()
    optimizer.step()
