import torch
from torch import nn


class Quantize(nn.Module):
    def __init__(self, codes=8, width=4):
        super().__init__()
        self.codebook = nn.Embedding(codes, width)

    def forward(self, z):
        index = torch.cdist(z, self.codebook.weight).argmin(dim=1)
        q = self.codebook(index)
        commit = (z - q.detach()).pow(2).mean() + (z.detach() - q).pow(2).mean()
        return z + (q - z).detach(), commit


encoder, quantize, decoder = nn.Linear(6, 4), Quantize(), nn.Linear(4, 6)
modules = nn.ModuleList([encoder, quantize, decoder])
optimizer = torch.optim.Adam(modules.parameters(), lr=1e-3)
for _ in range(4):
    x = torch.randn(8, 6)
    q, commit = quantize(encoder(x))
    loss = (decoder(q) - x).pow(2).mean() + 0.25 * commit
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
