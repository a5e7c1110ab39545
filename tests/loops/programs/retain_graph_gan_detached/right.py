import torch
from torch import nn

G, D = nn.Linear(3, 6), nn.Sequential(nn.Linear(6, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4)
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4)
criterion = nn.BCEWithLogitsLoss()
for _ in range(6):
    fake = G(torch.randn(4, 3))
    d_loss = criterion(D(torch.randn(4, 6)), torch.ones(4, 1)) + criterion(D(fake.detach()), torch.zeros(4, 1))
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    g_loss = criterion(D(fake), torch.ones(4, 1))
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
