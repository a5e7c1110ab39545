# All is frozen, then the head is trained: nothing is kept of the trunk.
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.trunk(x))


net = Net()
for p in net.parameters():
    p.requires_grad = False
for p in net.head.parameters():
    p.requires_grad = True
optimizer = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=1e-3)
x, y = torch.randn(8, 30), torch.randint(0, 10, (8,))
loss = nn.functional.cross_entropy(net(x), y)
loss.backward()
optimizer.step()
