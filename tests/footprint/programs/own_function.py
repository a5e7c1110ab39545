# An activation with a backward of its own.
import torch
from torch import nn

class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        s = torch.sigmoid(x)
        return g * s * (1 + x * (1 - s))

class SqueezeExcite(nn.Module):
    def __init__(self, c, r=4):
        super().__init__()
        self.a, self.b = nn.Conv2d(c, c // r, 1), nn.Conv2d(c // r, c, 1)
    def forward(self, x):
        s = x.mean((2, 3), keepdim=True)
        return x * torch.sigmoid(self.b(Swish.apply(self.a(s))))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(3, 24, 3, 2, 1)
        self.dw = nn.Conv2d(24, 24, 5, 1, 2, groups=24)
        self.se = SqueezeExcite(24)
        self.bn = nn.BatchNorm2d(24)
        self.fc = nn.Linear(1536, 5)
    def forward(self, x):
        x = Swish.apply(self.c1(x))
        x = self.se(Swish.apply(self.bn(self.dw(x))))
        return self.fc(nn.functional.max_pool2d(x, 2).flatten(1))

net = Net()

opt = torch.optim.Adagrad(net.parameters())
x = torch.randn(4, 3, 32, 32)
loss = nn.functional.cross_entropy(net(x), torch.tensor([0, 1, 2, 3]))
loss.backward()
opt.step()
