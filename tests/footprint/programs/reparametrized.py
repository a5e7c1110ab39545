# Layers whose weights are computed in each forward: by their lengths, by their largest singular value.
import torch
from torch import nn

class D(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.utils.spectral_norm(nn.Conv2d(1, 16, 4, 2, 1))
        self.b = nn.utils.parametrizations.spectral_norm(nn.Linear(16 * 196, 64))
        self.up = nn.utils.spectral_norm(nn.ConvTranspose1d(64, 8, 3))
        self.c = nn.utils.weight_norm(nn.Linear(8, 1))
    def forward(self, x):
        x = nn.functional.leaky_relu(self.a(x), 0.2).flatten(1)
        x = torch.relu(self.b(x)).unsqueeze(-1)
        return self.c(torch.tanh(self.up(x)).mean(-1))

d = D()
od = torch.optim.Adam(d.parameters(), lr=2e-4, betas=(0.5, 0.9))
real = torch.randn(8, 1, 28, 28)
loss = torch.relu(1 - d(real)).mean()
loss.backward()
od.step()
