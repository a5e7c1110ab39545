import torch
from torch import nn


class VQ(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Conv1d(4, 16, 4, 2, 1)
        self.book = nn.Embedding(32, 16)
        self.dec = nn.ConvTranspose1d(16, 4, 4, 2, 1)

    def forward(self, x):
        z = self.enc(x).transpose(1, 2)
        distance = z.pow(2).sum(-1, keepdim=True) - 2 * z @ self.book.weight.t() + self.book.weight.pow(2).sum(-1)
        index = distance.argmin(-1)
        q = self.book(index)
        commit = (q.detach() - z).pow(2).mean() * 0.25 + (q - z.detach()).pow(2).mean()
        q = z + (q - z).detach()
        return self.dec(q.transpose(1, 2)), commit


model = VQ()
opt = torch.optim.RAdam(model.parameters())
x = torch.randn(3, 4, 40)
y, commit = model(x)
loss = (y - x).abs().mean() + commit
loss.backward()
opt.step()
