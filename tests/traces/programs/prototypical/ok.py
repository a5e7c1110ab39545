"""Few-shot episodes with prototypical networks."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def conv_block(in_channels, out_channels):
    return nn.Sequential(
        nn.Conv2d(in_channels, out_channels, 3, padding=1),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(),
        nn.MaxPool2d(2),
    )


class ConvNet(nn.Module):
    def __init__(self, x_dim=1, hid_dim=16, z_dim=16, depth=3):
        super().__init__()
        dims = [x_dim] + [hid_dim] * (depth - 1) + [z_dim]
        self.encoder = nn.Sequential(*(conv_block(a, b) for a, b in zip(dims, dims[1:])))

    def forward(self, x):
        x = self.encoder(x)
        return x.view(x.size(0), -1)


def euclidean_dist(a, b):
    n, d = a.shape
    m = b.shape[0]
    a = a.unsqueeze(1).expand(n, m, d)
    b = b.unsqueeze(0).expand(n, m, d)
    return ((a - b) ** 2).sum(2)


class EpisodeSampler:
    """Draws `way` classes with `shot` supports and `query` queries each."""

    def __init__(self, data, way, shot, query):
        self.data = data  # [classes, examples, 1, H, W]
        self.way, self.shot, self.query = way, shot, query

    def __iter__(self):
        return self

    def __next__(self):
        classes = torch.randperm(self.data.size(0))[:self.way]
        examples = torch.randperm(self.data.size(1))[:self.shot + self.query]
        chosen = self.data[classes][:, examples]
        support = chosen[:, :self.shot]
        query = chosen[:, self.shot:]
        return support, query


def episode_loss(model, support, query):
    way, shot = support.shape[:2]
    n_query = query.shape[1]
    images = torch.cat([support.flatten(0, 1), query.flatten(0, 1)])
    z = model(images)
    z_proto = z[:way * shot].view(way, shot, -1).mean(dim=1)
    z_query = z[way * shot:]
    dists = euclidean_dist(z_query, z_proto)
    log_p = F.log_softmax(-dists, dim=1).view(way, n_query, -1)
    target = torch.arange(way).view(way, 1, 1).expand(way, n_query, 1)
    loss = -log_p.gather(2, target).squeeze(-1).mean()
    acc = log_p.argmax(2).eq(target.squeeze(-1)).float().mean()
    return loss, acc


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--way", type=int, default=4)
    parser.add_argument("--shot", type=int, default=2)
    parser.add_argument("--query", type=int, default=3)
    parser.add_argument("--episodes", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(0)
    data = torch.rand(10, 8, 1, 24, 24)
    sampler = EpisodeSampler(data, args.way, args.shot, args.query)
    model = ConvNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(args.episodes):
        support, query = next(sampler)
        loss, acc = episode_loss(model, support, query)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item(), acc.item())


if __name__ == "__main__":
    main()
