import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.score, self.out = nn.Linear(6, 1), nn.Linear(6, 3)

    def forward(self, x):
        weights = torch.softmax(self.score(x), dim=1)
        logits = self.out((weights * x).sum(dim=1))
        if self.training:
            return logits
        return logits.softmax(dim=-1)


model = Pool()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
model.train()
for _ in range(4):
    loss = criterion(model(torch.randn(4, 7, 6)), torch.randint(0, 3, (4,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
