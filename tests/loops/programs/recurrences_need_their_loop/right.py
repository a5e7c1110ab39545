import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 8)
        self.out = nn.Linear(8, 4)

    def forward(self, memory, steps):
        hidden, token, outputs = memory, torch.zeros(memory.size(0), 4), []
        for t in range(steps):
            hidden = self.cell(token, hidden)
            token = self.out(hidden)
            outputs.append(token)
        return torch.stack(outputs, dim=1)


class Blocks(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x):
        for i in range(len(self.layers)):
            x = x + self.layers[i](x)
        return x


decoder, blocks = Decoder(), Blocks()
optimizer = torch.optim.Adam([*decoder.parameters(), *blocks.parameters()], lr=1e-3)
for _ in range(3):
    target = torch.randn(2, 5, 4)
    loss = nn.functional.mse_loss(blocks(decoder(torch.randn(2, 8), target.size(1))), target)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(decoder.parameters(), 1.0)
    optimizer.step()
