import torch
from torch import nn

model = nn.ModuleDict({"rnn": nn.LSTM(4, 16, num_layers=2, batch_first=True), "head": nn.Linear(16, 1)})
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for step in range(5):
    series = torch.randn(8, 30, 4)
    target = series[:, -1, :1]
    hidden, _ = model["rnn"](series)
    loss = nn.functional.mse_loss(model["head"](hidden[:, -1]), target)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
