import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate = nn.Linear(width, 1)

    def forward(self, x):
        return (torch.sigmoid(self.gate(x)) * x).sum(dim=1)


model = Pool(4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(torch.randn(2, 9, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
