import torch
from torch import nn


def zero_all(*optimizers):
    for optimizer in optimizers:
        optimizer.zero_grad()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(6, 6), nn.Linear(6, 2)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


net = Net()
opt_body = torch.optim.SGD(net.body.parameters(), lr=0.01)
opt_head = torch.optim.Adam(net.head.parameters(), lr=1e-3)
for epoch in range(2):
    for i in range(3):
        loss = nn.functional.cross_entropy(net(torch.randn(4, 6)), torch.randint(0, 2, (4,)))
        if i == 0:
            net.zero_grad()
        else:
            zero_all(opt_body, opt_head)
        loss.backward()
        opt_body.step()
        opt_head.step()
