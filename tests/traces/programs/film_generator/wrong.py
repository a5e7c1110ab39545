"""Conditional generator: class embeddings modulate every block through scale and shift (FiLM)."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class FiLM(nn.Module):
    def __init__(self, cond_dim, channels):
        super().__init__()
        self.to_params = nn.Linear(cond_dim, 2 * channels)

    def forward(self, x, cond):
        gamma, beta = self.to_params(cond).chunk(3, dim=1)
        gamma = gamma.view(*gamma.shape, 1, 1)
        beta = beta.view(*beta.shape, 1, 1)
        return (1 + gamma) * x + beta


class GenBlock(nn.Module):
    def __init__(self, in_ch, out_ch, cond_dim, upsample=True):
        super().__init__()
        self.upsample = upsample
        self.conv1 = nn.Conv2d(in_ch, out_ch, 3, padding=1)
        self.conv2 = nn.Conv2d(out_ch, out_ch, 3, padding=1)
        self.film1 = FiLM(cond_dim, in_ch)
        self.film2 = FiLM(cond_dim, out_ch)
        self.shortcut = nn.Conv2d(in_ch, out_ch, 1)

    def forward(self, x, cond):
        h = F.leaky_relu(self.film1(x, cond), 0.2)
        if self.upsample:
            h = F.interpolate(h, scale_factor=2, mode="nearest")
            x = F.interpolate(x, scale_factor=2, mode="nearest")
        h = self.conv1(h)
        h = self.conv2(F.leaky_relu(self.film2(h, cond), 0.2))
        return h + self.shortcut(x)


class Generator(nn.Module):
    def __init__(self, z_dim=24, classes=5, base=8, img_channels=3):
        super().__init__()
        self.z_dim = z_dim
        self.splits = 4
        chunk = z_dim // self.splits
        self.embed = nn.Embedding(classes, 10)
        cond_dim = 10 + chunk
        self.base = base
        self.project = nn.Linear(chunk, 4 * base * 4 * 4)
        self.blocks = nn.ModuleList([
            GenBlock(4 * base, 4 * base, cond_dim),
            GenBlock(4 * base, 2 * base, cond_dim),
            GenBlock(2 * base, base, cond_dim),
        ])
        self.to_rgb = nn.Conv2d(base, img_channels, 1)

    def forward(self, z, labels):
        first, *rest = z.chunk(self.splits, dim=1)
        c = self.embed(labels)
        h = self.project(first).view(-1, 4 * self.base, 4, 4)
        for block, part in zip(self.blocks, rest):
            h = block(h, torch.cat([part, c], dim=1))
        return torch.tanh(self.to_rgb(h))


class ProjectionDiscriminator(nn.Module):
    def __init__(self, classes=5, width=16, img_channels=3):
        super().__init__()
        self.features = nn.Sequential(
            nn.utils.spectral_norm(nn.Conv2d(img_channels, width, 4, 2, 1)), nn.LeakyReLU(0.2),
            nn.utils.spectral_norm(nn.Conv2d(width, 2 * width, 4, 2, 1)), nn.LeakyReLU(0.2),
        )
        self.linear = nn.Linear(2 * width, 1)
        self.embed = nn.Embedding(classes, 2 * width)

    def forward(self, x, labels):
        h = self.features(x).sum(dim=(2, 3))
        projection = (self.embed(labels) * h).sum(dim=1, keepdim=True)
        return self.linear(h) + projection


if __name__ == "__main__":
    torch.manual_seed(0)
    generator, discriminator = Generator(), ProjectionDiscriminator()
    z = torch.randn(4, generator.z_dim)
    labels = torch.tensor([0, 3, 2, 2])
    fake = generator(z, labels)
    score = discriminator(fake, labels)
    hinge = F.relu(1.0 + score).mean()
    hinge.backward()
    print(fake.shape, score.shape, hinge.item())
