import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(12, 24)
        self.head = nn.Linear(24, 3)

    @torch.autocast("cuda", dtype=torch.float16)
    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


def fit(model, batches, lr=1e-2):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for x, y in batches:
        loss = nn.functional.cross_entropy(model(x.cuda()).float(), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


fit(Classifier().cuda(), [(torch.randn(6, 12), torch.randint(0, 3, (6,))) for _ in range(4)])
