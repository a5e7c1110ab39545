import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift = nn.Linear(16, 32)
        self.gru = nn.GRU(32, 48, num_layers=2, batch_first=True, bidirectional=True)
        self.rnn = nn.RNN(96, 40, batch_first=True)
        self.cell, self.lstm_cell = nn.GRUCell(40, 24), nn.LSTMCell(24, 24)
        self.head = nn.Linear(24, 5)

    def forward(self, x):
        x, _ = self.gru(self.lift(x))
        x, _ = self.rnn(x)
        state = self.cell(x[:, -1])
        hidden, _ = self.lstm_cell(state)
        return self.head(hidden)


model = Tagger()
for part in (model.gru, model.rnn, model.cell, model.lstm_cell):
    part.requires_grad_(False)
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)
x, y = torch.randn(8, 20, 16), torch.randint(0, 5, (8,))
loss = nn.functional.cross_entropy(model(x), y)
loss.backward()
optimizer.step()
