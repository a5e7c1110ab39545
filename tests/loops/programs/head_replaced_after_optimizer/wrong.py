import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.fc = nn.Linear(4, classes)

    def forward(self, x):
        return self.fc(self.features(x))


def finetune(classes=5):
    model = Backbone()
    for parameter in model.features.parameters():
        parameter.requires_grad = False
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    model.fc = nn.Linear(4, classes)
    for _ in range(5):
        x, y = torch.randn(4, 3, 8, 8), torch.randint(0, classes, (4,))
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


finetune()
