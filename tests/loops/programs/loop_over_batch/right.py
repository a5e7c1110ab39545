import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(8, 8)

    def forward(self, x, keys):
        return torch.bmm(self.project(x).unsqueeze(1), keys.transpose(1, 2)).squeeze(1)


model = Scorer()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    scores = model(torch.randn(6, 8), torch.randn(6, 5, 8))
    loss = nn.functional.cross_entropy(scores, torch.randint(0, 5, (6,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
