import torch
from torch import nn

net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
loss_fn = nn.BCEWithLogitsLoss()
opt = torch.optim.SGD(net.parameters(), lr=0.1)

for _ in range(6):
    x = torch.randn(16, 5)
    y = (x.sum(dim=1, keepdim=True) > 0).float()
    opt.zero_grad()
    loss = loss_fn(net(x), y)
    loss.backward()
    opt.step()
