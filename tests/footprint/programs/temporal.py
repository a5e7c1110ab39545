# Dilated convolutions over time, with weights by their lengths.
import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

class Chomp(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n
    def forward(self, x):
        return x[:, :, :-self.n].contiguous()

class TemporalBlock(nn.Module):
    def __init__(self, i, o, k, d):
        super().__init__()
        p = (k - 1) * d
        self.net = nn.Sequential(weight_norm(nn.Conv1d(i, o, k, padding=p, dilation=d)), Chomp(p), nn.ReLU(), nn.Dropout(0.2),
                                 weight_norm(nn.Conv1d(o, o, k, padding=p, dilation=d)), Chomp(p), nn.ReLU(), nn.Dropout(0.2))
        self.down = nn.Conv1d(i, o, 1) if i != o else None
        self.relu = nn.ReLU()
    def forward(self, x):
        out = self.net(x)
        res = x if self.down is None else self.down(x)
        return self.relu(out + res)

class TCN(nn.Module):
    def __init__(self):
        super().__init__()
        chans = [1, 16, 16, 32]
        self.net = nn.Sequential(*[TemporalBlock(chans[i], chans[i + 1], 3, 2 ** i) for i in range(3)])
        self.fc = nn.Linear(32, 10)
    def forward(self, x):
        return torch.log_softmax(self.fc(self.net(x)[:, :, -1]), dim=1)

net = TCN()
opt = torch.optim.Adam(net.parameters())
x = torch.randn(8, 1, 100); y = torch.randint(0, 10, (8,))
loss = nn.functional.nll_loss(net(x), y)
opt.zero_grad()
loss.backward()
opt.step()
