import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.classes = nn.Sequential(nn.Linear(5, 3), nn.LogSoftmax(dim=1))
        self.present = nn.Sequential(nn.Linear(5, 1), nn.Sigmoid())

    def forward(self, x):
        return self.classes(x), self.present(x)


net = Net()
nll, bce = nn.NLLLoss(), nn.BCELoss()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(4):
    classes, present = net(torch.randn(6, 5))
    loss = nll(classes, torch.randint(0, 3, (6,))) + bce(present, torch.rand(6, 1).round())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
