# A language model with an LSTM.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, words=200, width=32, hidden=48, layers=2):
        super().__init__()
        self.encoder = nn.Embedding(words, width)
        self.rnn = nn.LSTM(width, hidden, layers, batch_first=True)
        self.decoder = nn.Linear(hidden, words)

    def forward(self, x):
        y, _ = self.rnn(self.encoder(x))
        return self.decoder(y)


model = Model()
optimizer = torch.optim.Adagrad(model.parameters())
x = torch.randint(0, 200, (4, 20))
logits = model(x)
loss = nn.functional.cross_entropy(logits.reshape(-1, 200), x.reshape(-1))
loss.backward()
optimizer.step()
