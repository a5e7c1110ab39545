import torch
from torch import nn


class Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(60, 20)
        self.enc = nn.GRU(20, 24, num_layers=2, bidirectional=True, dropout=0.0)
        self.cell = nn.GRUCell(20 + 48, 24)
        self.score = nn.Linear(24 + 48, 1)
        self.out = nn.Linear(24, 60)

    def forward(self, src, tgt):
        memory, state = self.enc(self.embed(src))
        h = state[-1]
        outs = []
        for t in range(tgt.size(0)):
            w = self.score(torch.cat([h.expand(memory.size(0), -1, -1), memory], -1)).softmax(0)
            h = self.cell(torch.cat([self.embed(tgt[t]), (w * memory).sum(0)], -1), h)
            outs.append(self.out(h))
        return torch.stack(outs)


model = Seq()
opt = torch.optim.Adadelta(model.parameters())
src, tgt = torch.randint(0, 60, (7, 5)), torch.randint(0, 60, (4, 5))
loss = nn.functional.cross_entropy(model(src, tgt).view(-1, 60), tgt.view(-1))
loss.backward()
opt.step()
