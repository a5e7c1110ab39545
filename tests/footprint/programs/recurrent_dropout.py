# Recurrent layers that drop between their layers.
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(120, 24)
        self.gru = nn.GRU(24, 32, num_layers=3, batch_first=True, dropout=0.3)
        self.both = nn.GRU(32, 16, num_layers=2, bidirectional=True, batch_first=True, dropout=0.1)
        self.lstm = nn.LSTM(32, 20, num_layers=3, batch_first=True, dropout=0.5)
        self.both_lstm = nn.LSTM(20, 12, num_layers=2, bidirectional=True, batch_first=True, dropout=0.2)
        self.rnn = nn.RNN(24, 28, num_layers=2, batch_first=True, dropout=0.4)
        self.head = nn.Linear(28, 5)

    def forward(self, ids):
        x, _ = self.gru(self.words(ids))
        x, _ = self.both(x)
        x, _ = self.lstm(x)
        x, _ = self.both_lstm(x)
        x, _ = self.rnn(x)
        return self.head(x[:, -1])


model = Net()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.01)
ids, labels = torch.randint(120, (7, 13)), torch.randint(5, (7,))
loss = nn.functional.cross_entropy(model(ids), labels)
loss.backward()
optimizer.step()
