import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

batch_size = 4
loader = DataLoader(TensorDataset(torch.randn(14, 7, 3)), batch_size=batch_size)
rnn = nn.GRU(3, 6, batch_first=True)
optimizer = torch.optim.Adam(rnn.parameters(), lr=1e-3)
hidden = torch.zeros(1, batch_size, 6)
for (x,) in loader:
    out, hidden = rnn(x, hidden.detach())
    loss = out.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(rnn.parameters(), 1.0)
    optimizer.step()
