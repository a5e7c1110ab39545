"""Cells that begin with no state of their own, and recurrent layers without a bias."""
import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = nn.LSTMCell(6, 8), nn.GRUCell(8, 8), nn.RNNCell(8, 8, nonlinearity="relu")
        self.rnn = nn.GRU(8, 5, batch_first=True, bidirectional=True, bias=False)

    def forward(self, x):
        states = [self.third(self.second(self.first(step)[0])) for step in x.unbind(1)]
        return self.rnn(torch.stack(states, 1))[0]


reader = Reader()
optimizer = torch.optim.RAdam(reader.parameters())
loss = reader(torch.rand(4, 7, 6)).square().mean()
loss.backward()
optimizer.step()
