# An autoencoder whose loss is put together from reconstruction and divergence.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Autoencoder(nn.Module):
    def __init__(self, pixels=1024, hidden=4000, latent=200):
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(pixels, hidden), nn.SiLU(), nn.Linear(hidden, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.SiLU(), nn.Linear(hidden, pixels), nn.Sigmoid())

    def forward(self, images):
        center, spread = self.encoder(images).chunk(2, dim=1)
        code = center + torch.randn_like(center) * (spread / 2).exp()
        return self.decoder(code), center, spread


def negative_bound(images, painted, center, spread):
    pixels = F.binary_cross_entropy(painted, images.flatten(1), reduction="none").sum(dim=1)
    divergence = (center**2 + spread.exp() - spread - 1).sum(dim=1) / 2
    return (pixels + divergence).mean()


model = Autoencoder().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
images = torch.rand(2048, 1, 32, 32, device="cuda")
for step in range(3):
    painted, center, spread = model(images)
    loss = negative_bound(images, painted, center, spread)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
