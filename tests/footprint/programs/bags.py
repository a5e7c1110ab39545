import torch
from torch import nn
import torch.nn.functional as F


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.EmbeddingBag(300, 24, mode="mean")
        self.l1 = nn.Linear(24, 48)
        self.bil = nn.Bilinear(48, 24, 12)
        self.l2 = nn.Linear(12, 7)

    def forward(self, ids):
        e = self.e(ids)
        h = F.dropout(F.mish(self.l1(e)), 0.3, self.training)
        return self.l2(torch.sigmoid(self.bil(h, e)))


model = Tagger()
opt = torch.optim.Adadelta(model.parameters())
accumulate = 4
data = torch.randint(0, 300, (8, 5, 6))
target = torch.randint(0, 7, (8, 5))
opt.zero_grad()
for i in range(4):
    out = model(data[i])
    loss = F.cross_entropy(out, target[i]) / accumulate
    loss.backward()
    if (i + 1) % accumulate == 0:
        opt.step()
        opt.zero_grad()
