"""Convolutional VAE whose encoder and decoder are built in loops over the hidden widths."""
from typing import List, Optional

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class ConvVAE(nn.Module):
    def __init__(self, in_channels: int, latent_dim: int, hidden_dims: Optional[List[int]] = None, image_size: int = 32) -> None:
        super().__init__()
        self.latent_dim = latent_dim
        modules = []
        if hidden_dims is None:
            hidden_dims = [8, 16, 32]
        self.final_size = image_size // 2 ** len(hidden_dims)
        channels = in_channels

        for h_dim in hidden_dims:
            modules.append(nn.Sequential(
                nn.Conv2d(channels, out_channels=h_dim, kernel_size=3, stride=2, padding=1),
                nn.BatchNorm2d(h_dim),
                nn.LeakyReLU(),
            ))
            channels = h_dim

        self.encoder = nn.Sequential(*modules)
        flat = hidden_dims[-1] * self.final_size ** 2
        self.fc_mu = nn.Linear(flat, latent_dim)
        self.fc_var = nn.Linear(flat, latent_dim)

        self.last_width = hidden_dims[-1]
        self.decoder_input = nn.Linear(latent_dim, flat)
        modules = []
        widths = hidden_dims[::-1]
        for i in range(len(widths) - 1):
            modules.append(nn.Sequential(
                nn.ConvTranspose2d(widths[i], widths[i + 1], kernel_size=3, stride=2, padding=1, output_padding=1),
                nn.BatchNorm2d(widths[i + 1]),
                nn.LeakyReLU(),
            ))
        self.decoder = nn.Sequential(*modules)
        self.final_layer = nn.Sequential(
            nn.ConvTranspose2d(widths[-1], widths[-1], kernel_size=3, stride=2, padding=1, output_padding=1),
            nn.LeakyReLU(),
            nn.Conv2d(widths[-1], out_channels=in_channels, kernel_size=3, padding=1),
            nn.Tanh(),
        )

    def encode(self, input: Tensor) -> List[Tensor]:
        result = self.encoder(input)
        result = torch.flatten(result, start_dim=1)
        mu = self.fc_mu(result)
        log_var = self.fc_var(result)
        return [mu, log_var]

    def decode(self, z: Tensor) -> Tensor:
        result = self.decoder_input(z)
        result = result.view(-1, self.last_width, self.final_size, self.final_size)
        result = self.decoder(result)
        result = self.final_layer(result)
        return result

    def reparameterize(self, mu: Tensor, logvar: Tensor) -> Tensor:
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return eps * std + mu

    def forward(self, input: Tensor, **kwargs) -> List[Tensor]:
        mu, log_var = self.encode(input)
        z = self.reparameterize(mu, log_var)
        return [self.decode(z), input, mu, log_var]

    def loss_function(self, *args, **kwargs) -> dict:
        recons, input, mu, log_var = args
        kld_weight = kwargs["M_N"]
        recons_loss = F.mse_loss(recons, input)
        kld_loss = torch.mean(-0.5 * torch.sum(1 + log_var - mu ** 2 - log_var.exp(), dim=1), dim=0)
        loss = recons_loss + kld_weight * kld_loss
        return {"loss": loss, "Reconstruction_Loss": recons_loss.detach(), "KLD": -kld_loss.detach()}

    def sample(self, num_samples: int) -> Tensor:
        z = torch.randn(num_samples, self.latent_dim)
        samples = self.decode(z)
        return samples


def main() -> None:
    torch.manual_seed(0)
    model = ConvVAE(in_channels=3, latent_dim=10)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    images = torch.rand(6, 3, 32, 32) * 2 - 1
    for _ in range(2):
        optimizer.zero_grad()
        results = model(images)
        losses = model.loss_function(*results, M_N=0.005)
        losses["loss"].backward()
        optimizer.step()
    with torch.no_grad():
        samples = model.sample(4)
    print(losses["loss"].item(), samples.shape)


if __name__ == "__main__":
    main()
