import torch
from torch import nn


class Translate(nn.Module):
    def __init__(self, words=120, width=32):
        super().__init__()
        self.src, self.tgt = nn.Embedding(words, width), nn.Embedding(words, width)
        self.pos = nn.Parameter(torch.zeros(1, 20, width))
        self.core = nn.Transformer(width, 4, 2, 2, 64, dropout=0.0, batch_first=True)
        self.out = nn.Linear(width, words)

    def forward(self, s, t):
        mask = nn.Transformer.generate_square_subsequent_mask(t.size(1))
        s, t = self.src(s) + self.pos[:, : s.size(1)], self.tgt(t) + self.pos[:, : t.size(1)]
        return self.out(self.core(s, t, tgt_mask=mask))


model = Translate()
opt = torch.optim.AdamW(model.parameters())
s, t = torch.randint(0, 120, (3, 11)), torch.randint(0, 120, (3, 9))
out = model(s, t[:, :-1])
loss = nn.functional.cross_entropy(out.reshape(-1, 120), t[:, 1:].reshape(-1))
loss.backward()
opt.step()
