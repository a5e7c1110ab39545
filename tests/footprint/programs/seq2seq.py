# Cells in a loop over time.
import torch
import torch.nn as nn


class Decoder(nn.Module):
    def __init__(self, words=50, width=24):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.w = nn.Linear(2 * width, width)
        self.out = nn.Linear(width, words)
        self.width = width

    def forward(self, x):
        h = torch.zeros(x.size(0), self.width)
        outs = []
        for t in range(6):
            h = torch.tanh(self.w(torch.cat([self.embed(x[:, t]), h], dim=1)))
            outs.append(self.out(h))
        return torch.stack(outs, dim=1)


model = Decoder()
optimizer = torch.optim.Adam(model.parameters())
x = torch.randint(0, 50, (7, 6))
logits = model(x)
loss = nn.functional.cross_entropy(logits.flatten(0, 1), x.flatten())
loss.backward()
optimizer.step()
