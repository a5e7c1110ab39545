import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm


class Chomp(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def forward(self, x):
        return x[:, :, : -self.n].contiguous()


class Block(nn.Module):
    def __init__(self, i, o, d):
        super().__init__()
        self.net = nn.Sequential(weight_norm(nn.Conv1d(i, o, 3, padding=2 * d, dilation=d)), Chomp(2 * d), nn.ReLU(), nn.Dropout(0.1))
        self.down = nn.Conv1d(i, o, 1) if i != o else None

    def forward(self, x):
        res = x if self.down is None else self.down(x)
        return torch.relu(self.net(x) + res)


model = nn.Sequential(Block(5, 16, 1), Block(16, 16, 2), Block(16, 16, 4))
head = nn.Linear(16, 2)
opt = torch.optim.Adam([*model.parameters(), *head.parameters()])
x, y = torch.randn(6, 5, 30), torch.randn(6, 2)
loss = nn.functional.huber_loss(head(model(x)[:, :, -1]), y)
loss.backward()
opt.step()
