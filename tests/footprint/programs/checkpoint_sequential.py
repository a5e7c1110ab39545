import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


class Residual(nn.Module):
    def __init__(self, channels, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        return F.relu(x + self.bn2(self.conv2(y)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 24, 7, stride=2, padding=3)
        self.body = nn.Sequential(*[Residual(24) for _ in range(6)])
        self.extra = Residual(24)
        self.head = nn.Linear(24, 11)

    def forward(self, x):
        x = self.stem(x)
        x = checkpoint_sequential(self.body, 3, x, use_reentrant=False)
        x = checkpoint(self.extra, x, use_reentrant=False)
        return self.head(x.mean((2, 3)))


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)
images, labels = torch.randn(4, 3, 64, 64), torch.randint(0, 11, (4,))
loss = F.cross_entropy(net(images), labels, label_smoothing=0.1)
opt.zero_grad()
loss.backward()
opt.step()
