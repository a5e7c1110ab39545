import torch
from torch import nn

rnn, head = nn.RNN(3, 6, batch_first=True), nn.Linear(6, 1)
optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.01)
hidden = torch.zeros(1, 2, 6)
for chunk in torch.randn(2, 20, 3).split(5, dim=1):
    out, hidden = rnn(chunk, hidden)
    loss = head(out).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(rnn.parameters(), 1.0)
    optimizer.step()
