import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.gru = nn.GRU(8, 8, batch_first=True)
        self.out = nn.Linear(8, 5)

    def forward(self, tokens):
        return self.out(self.gru(self.embed(tokens))[0])


model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(6):
    tokens, tags = torch.randint(0, 20, (4, 7)), torch.randint(0, 5, (4, 7))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(tokens).transpose(1, 2), tags)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
