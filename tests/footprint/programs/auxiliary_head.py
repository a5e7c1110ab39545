# A head that no loss goes through has no gradients, and so no state.
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(40, 64), nn.GELU())
        self.head = nn.Linear(64, 5)
        self.auxiliary = nn.Sequential(nn.Linear(64, 300), nn.ReLU(), nn.Linear(300, 5))
        self.unused = nn.Parameter(torch.zeros(77, 3))

    def forward(self, x, with_auxiliary=False):
        h = self.body(x)
        return self.auxiliary(h) if with_auxiliary else self.head(h)


net = Net()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
x, y = torch.randn(9, 40), torch.randint(0, 5, (9,))
loss = nn.functional.cross_entropy(net(x), y)
loss.backward()
optimizer.step()
