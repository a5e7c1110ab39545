# The layers that torch.nn brings, ASGD.
import torch
import torch.nn as nn


class Bert(nn.Module):
    def __init__(self, words=100, width=32, heads=4, layers=2, length=24):
        super().__init__()
        self.words = nn.Embedding(words, width, padding_idx=0)
        self.places = nn.Parameter(torch.zeros(length, width))
        layer = nn.TransformerEncoderLayer(width, heads, dim_feedforward=64, dropout=0.0, batch_first=True, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.classes = nn.Linear(width, 3)

    def forward(self, x):
        return self.classes(self.encoder(self.words(x) + self.places)[:, 0])


model = Bert()
optimizer = torch.optim.ASGD(model.parameters())
x, y = torch.randint(1, 100, (5, 24)), torch.randint(0, 3, (5,))
loss = nn.functional.cross_entropy(model(x), y)
loss.backward()
optimizer.step()
