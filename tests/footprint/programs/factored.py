# Adafactor keeps a number for each row and one for each column of a matrix; of a vector it keeps all.
import torch
import torch.nn as nn


class Tagger(nn.Module):
    def __init__(self, words=91, width=24):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.mix = nn.Conv1d(width, 2 * width, 3, padding=1)
        self.out = nn.Linear(2 * width, 7)

    def forward(self, words):
        return self.out(torch.relu(self.mix(self.table(words).transpose(1, 2))).transpose(1, 2))


tagger = Tagger()
optimizer = torch.optim.Adafactor(tagger.parameters(), lr=1e-2)
words, tags = torch.randint(0, 91, (4, 12)), torch.randint(0, 7, (4, 12))
loss = nn.functional.cross_entropy(tagger(words).flatten(0, 1), tags.flatten())
loss.backward()
optimizer.step()
