# Convolutions over time, group norms, a GRU.
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(40, 64, 5, stride=2, padding=2), nn.GroupNorm(8, 64), nn.SiLU(), nn.Conv1d(64, 64, 3, padding=1), nn.GroupNorm(8, 64), nn.SiLU())
        self.rnn = nn.GRU(64, 32, bidirectional=True, batch_first=True)
        self.out = nn.Linear(64, 30)

    def forward(self, x):
        x = self.conv(x).transpose(1, 2)
        x, _ = self.rnn(x)
        return self.out(x).log_softmax(-1)


model = Net()
optimizer = torch.optim.RAdam(model.parameters())
x, y = torch.randn(3, 40, 100), torch.randint(0, 30, (3, 50))
logits = model(x)
loss = nn.functional.nll_loss(logits.reshape(-1, 30), y.reshape(-1))
loss.backward()
optimizer.step()
