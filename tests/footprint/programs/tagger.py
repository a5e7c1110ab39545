import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, words=200, width=24, hidden=40, tags=9):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.below = nn.LSTM(width, hidden, num_layers=2, batch_first=True, bidirectional=True)
        self.above = nn.LSTM(2 * hidden, 72)
        self.out = nn.Linear(72, tags)

    def forward(self, x):
        y, _ = self.below(self.embed(x))
        z, _ = self.above(y.transpose(0, 1))
        return self.out(z).transpose(0, 1)


model = Tagger()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
x, y = torch.randint(0, 200, (6, 17)), torch.randint(0, 9, (6, 17))
loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten(), weight=torch.rand(9), label_smoothing=0.1)
loss.backward()
optimizer.step()
