import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


class VAE(nn.Module):
    def __init__(self, n_in=196, n_hidden=64, n_latent=8):
        super(VAE, self).__init__()
        self.n_in = n_in
        self.n_latent = n_latent
        self.fc1 = nn.Linear(n_in, n_hidden)
        self.fc21 = nn.Linear(n_hidden, n_latent)
        self.fc22 = nn.Linear(n_hidden, n_latent)
        self.fc3 = nn.Linear(n_latent, n_hidden)
        self.fc4 = nn.Linear(n_hidden, n_in)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        h3 = F.relu(self.fc3(z))
        return torch.sigmoid(self.fc4(h3))

    def forward(self, x):
        flat = x.view(-1, self.n_in)
        mu, logvar = self.encode(flat)
        z = self.reparameterize(mu, logvar)
        return self.decode(z), (mu, logvar)


def loss_function(recon_x, x, mu, logvar):
    """Reconstruction + KL divergence losses summed over all elements and batch"""
    bce = F.binary_cross_entropy(recon_x, x.view(-1, 196), reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld


def train(epoch, model, train_loader, optimizer):
    model.train()
    train_loss = 0
    for batch_idx, (data, _) in enumerate(train_loader):
        optimizer.zero_grad()
        recon_batch, mu, logvar = model(data)
        loss = loss_function(recon_batch, data, mu, logvar)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
    print("epoch: {} average loss: {:.4f}".format(epoch, train_loss / len(train_loader.dataset)))


def test(model, test_loader):
    model.eval()
    test_loss = 0
    with torch.no_grad():
        for data, _ in test_loader:
            recon_batch, mu, logvar = model(data)
            test_loss += loss_function(recon_batch, data, mu, logvar).item()
            n = min(data.size(0), 4)
            comparison = torch.cat([data[:n], recon_batch.view(-1, 1, 14, 14)[:n]])
            grid = comparison.permute(1, 2, 0, 3).reshape(14, -1)
    return test_loss / len(test_loader.dataset), grid


if __name__ == "__main__":
    torch.manual_seed(1)
    images = torch.rand(40, 1, 14, 14)
    targets = torch.randint(0, 10, (40,))
    train_loader = DataLoader(TensorDataset(images[:32], targets[:32]), batch_size=16, shuffle=True)
    test_loader = DataLoader(TensorDataset(images[32:], targets[32:]), batch_size=8, shuffle=False)
    model = VAE()
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(1, 3):
        train(epoch, model, train_loader, optimizer)
        score, grid = test(model, test_loader)
    with torch.no_grad():
        sample = torch.randn(5, model.n_latent)
        decoded = model.decode(sample).view(5, 1, 14, 14)
    print(score, grid.shape, decoded.shape)
