"""A query attends to keys and values of other widths, which have a weight each."""
import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.MultiheadAttention(48, 6, kdim=40, vdim=28, batch_first=True)
        self.same = nn.MultiheadAttention(48, 4, kdim=48, bias=False, batch_first=True)
        self.out = nn.Linear(48, 5)

    def forward(self, queries, keys, values):
        found, _ = self.read(queries, keys, values, need_weights=False)
        found, _ = self.same(found, found, found, need_weights=False)
        return self.out(found.mean(1))


model = Reader()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
queries, keys, values = torch.randn(3, 5, 48), torch.randn(3, 11, 40), torch.randn(3, 11, 28)
loss = nn.MultiMarginLoss()(model(queries, keys, values), torch.randint(0, 5, (3,)))
loss.backward()
optimizer.step()
