import torch
from torch import nn


class Bilinear(nn.Module):
    def __init__(self, out, left, right):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out, left, right) * 0.1)
        self.mix = nn.Parameter(torch.randn(out, 12) * 0.1)

    def forward(self, a, b):
        return torch.einsum("bi,oij,bj,ok->bk", a, self.weight, b, self.mix)


left, right, pair = nn.Linear(20, 32), nn.Linear(20, 24), Bilinear(16, 32, 24)
optimizer = torch.optim.Adam([*left.parameters(), *right.parameters(), *pair.parameters()], lr=1e-3)
x = torch.randn(40, 20)
loss = pair(left(x), right(x)).pow(2).mean() + torch.einsum("bi,oij,bj->bo", left(x), pair.weight, right(x)).mean()
loss.backward()
optimizer.step()
