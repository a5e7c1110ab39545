"""Convolutional autoencoder on fake digits with a denoising objective."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class NoisyDigits(Dataset):
    """Pairs of a noisy image and the clean one."""

    def __init__(self, count=32, noise=0.3):
        generator = torch.Generator().manual_seed(7)
        self.clean = torch.rand(count, 1, 28, 28, generator=generator)
        self.noise = noise

    def __len__(self):
        return len(self.clean)

    def __getitem__(self, index):
        clean = self.clean[index]
        noisy = clean + self.noise * torch.randn_like(clean)
        return noisy.clamp(0, 1), clean


class AutoEncoder(nn.Module):
    def __init__(self, latent=32):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(32 * 7 * 7, latent),
        )
        self.project = nn.Linear(latent, 32 * 7 * 7)
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(32, 16, 3, stride=2, padding=1, output_padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(16, 1, 3, stride=2, padding=1),
            nn.Sigmoid(),
        )

    def encode(self, x):
        return self.encoder(x)

    def decode(self, z):
        h = self.project(z)
        h = h.view(-1, 32, 7, 7)
        return self.decoder(h)

    def forward(self, x):
        z = self.encode(x)
        return self.decode(z), z


def train(model, loader, epochs=2, lr=1e-3):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    loss_fn = nn.MSELoss()
    history = []
    for _ in range(epochs):
        for noisy, clean in loader:
            reconstruction, code = model(noisy)
            loss = loss_fn(reconstruction, clean)
            sparsity = code.abs().mean()
            total = loss + 1e-4 * sparsity
            optimizer.zero_grad()
            total.backward()
            optimizer.step()
            history.append(loss.item())
    return history


def interpolate(model, a, b, steps=4):
    model.eval()
    with torch.no_grad():
        za, zb = model.encode(a), model.encode(b)
        weights = torch.linspace(0, 1, steps).unsqueeze(1)
        path = za * (1 - weights) + zb * weights
        frames = model.decode(path)
    model.train()
    return frames


def main():
    torch.manual_seed(0)
    dataset = NoisyDigits()
    loader = DataLoader(dataset, batch_size=8, shuffle=True)
    model = AutoEncoder()
    history = train(model, loader)
    first, second = dataset.clean[0:1], dataset.clean[1:2]
    frames = interpolate(model, first, second)
    print(history[-1], frames.shape)


main()
