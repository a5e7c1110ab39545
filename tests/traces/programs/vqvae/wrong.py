"""VQ-VAE with an exponential moving average codebook."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class VectorQuantizerEMA(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, commitment_cost=0.25, decay=0.99, epsilon=1e-5):
        super().__init__()
        self._embedding_dim = embedding_dim
        self._num_embeddings = num_embeddings
        self._embedding = nn.Embedding(num_embeddings, embedding_dim)
        self._embedding.weight.data.normal_()
        self._commitment_cost = commitment_cost
        self.register_buffer("_ema_cluster_size", torch.zeros(num_embeddings))
        self._ema_w = nn.Parameter(torch.Tensor(num_embeddings, embedding_dim))
        self._ema_w.data.normal_()
        self._decay = decay
        self._epsilon = epsilon

    def forward(self, inputs):
        inputs = inputs.permute(0, 2, 3, 1).contiguous()
        input_shape = inputs.shape
        flat_input = inputs.view(-1, self._num_embeddings)
        distances = (torch.sum(flat_input**2, dim=1, keepdim=True) + torch.sum(self._embedding.weight**2, dim=1)
                     - 2 * torch.matmul(flat_input, self._embedding.weight.t()))
        encoding_indices = torch.argmin(distances, dim=1).unsqueeze(1)
        encodings = torch.zeros(encoding_indices.shape[0], self._num_embeddings, device=inputs.device)
        encodings.scatter_(1, encoding_indices, 1)
        quantized = torch.matmul(encodings, self._embedding.weight).view(input_shape)
        if self.training:
            self._ema_cluster_size = self._ema_cluster_size * self._decay + (1 - self._decay) * torch.sum(encodings, 0)
            n = torch.sum(self._ema_cluster_size.data)
            self._ema_cluster_size = (self._ema_cluster_size + self._epsilon) / (n + self._num_embeddings * self._epsilon) * n
            dw = torch.matmul(encodings.t(), flat_input)
            self._ema_w = nn.Parameter(self._ema_w * self._decay + (1 - self._decay) * dw)
            self._embedding.weight = nn.Parameter(self._ema_w / self._ema_cluster_size.unsqueeze(1))
        e_latent_loss = F.mse_loss(quantized.detach(), inputs)
        loss = self._commitment_cost * e_latent_loss
        quantized = inputs + (quantized - inputs).detach()
        avg_probs = torch.mean(encodings, dim=0)
        perplexity = torch.exp(-torch.sum(avg_probs * torch.log(avg_probs + 1e-10)))
        return loss, quantized.permute(0, 3, 1, 2).contiguous(), perplexity, encodings


class ResidualStack(nn.Module):
    def __init__(self, hiddens, layers, residual_hiddens):
        super().__init__()
        self.layers = nn.ModuleList([
            nn.Sequential(nn.ReLU(True), nn.Conv2d(hiddens, residual_hiddens, 3, 1, 1, bias=False), nn.ReLU(True), nn.Conv2d(residual_hiddens, hiddens, 1, bias=False))
            for _ in range(layers)])

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x.clone())
        return F.relu(x)


class VQVAE(nn.Module):
    def __init__(self, args):
        super().__init__()
        h = args.hiddens
        self.encoder = nn.Sequential(nn.Conv2d(3, h // 2, 4, 2, 1), nn.ReLU(), nn.Conv2d(h // 2, h, 4, 2, 1), nn.ReLU(), nn.Conv2d(h, h, 3, 1, 1), ResidualStack(h, 2, args.res))
        self.pre_vq = nn.Conv2d(h, args.embedding_dim, 1)
        self.vq = VectorQuantizerEMA(args.num_embeddings, args.embedding_dim)
        self.decoder = nn.Sequential(nn.Conv2d(args.embedding_dim, h, 3, 1, 1), ResidualStack(h, 2, args.res), nn.ConvTranspose2d(h, h // 2, 4, 2, 1), nn.ReLU(),
                                     nn.ConvTranspose2d(h // 2, 3, 4, 2, 1))

    def forward(self, x):
        z = self.pre_vq(self.encoder(x))
        loss, quantized, perplexity, _ = self.vq(z)
        return loss, self.decoder(quantized), perplexity


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--hiddens", type=int, default=32)
    p.add_argument("--res", type=int, default=8)
    p.add_argument("--embedding_dim", type=int, default=16)
    p.add_argument("--num_embeddings", type=int, default=24)
    p.add_argument("--batch_size", type=int, default=4)
    return p.parse_args()


if __name__ == "__main__":
    args = parse()
    torch.manual_seed(0)
    model = VQVAE(args)
    data = torch.rand(8, 3, 32, 32)
    variance = data.var().item()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, amsgrad=False)
    for start in range(0, data.size(0), args.batch_size):
        batch = data[start:start + args.batch_size]
        vq_loss, recon, perplexity = model(batch)
        recon_error = F.mse_loss(recon, batch) / variance
        loss = recon_error + vq_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item(), perplexity.item())
