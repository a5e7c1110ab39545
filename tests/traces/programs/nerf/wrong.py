"""NeRF on a synthetic scene: rays, stratified samples, positional encoding and volume rendering."""
import numpy as np
import torch
import torch.nn as nn


def positional_encoding(x, num_frequencies=6, include_input=True, log_sampling=True):
    encoding = [x] if include_input else []
    if log_sampling:
        bands = 2.0 ** torch.linspace(0.0, num_frequencies - 1, num_frequencies)
    else:
        bands = torch.linspace(1.0, 2.0 ** (num_frequencies - 1), num_frequencies)
    for freq in bands:
        for fn in (torch.sin, torch.cos):
            encoding.append(fn(x * freq))
    return torch.cat(encoding, dim=-1)


def get_rays(height, width, focal, pose):
    i, j = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32), indexing="xy")
    dirs = np.stack([(i - width * 0.5) / focal, -(j - height * 0.5) / focal, -np.ones_like(i)], -1)
    rays_d = np.sum(dirs[..., np.newaxis, :] * pose[:3, :3], -1)
    rays_o = np.broadcast_to(pose[:3, -1], np.shape(rays_d))
    return rays_o, rays_d


class NeRF(nn.Module):
    def __init__(self, depth=4, width=32, pos_dim=39, dir_dim=27, skip=2):
        super().__init__()
        self.skip = skip
        self.layers = nn.ModuleList([nn.Linear(pos_dim, width)] + [nn.Linear(width + pos_dim if i == skip else width, width) for i in range(1, depth)])
        self.sigma = nn.Linear(width, 1)
        self.feature = nn.Linear(width, width)
        self.color = nn.Sequential(nn.Linear(width + dir_dim, width // 2), nn.ReLU(), nn.Linear(width // 2, 3), nn.Sigmoid())

    def forward(self, x, d):
        h = x
        for i, layer in enumerate(self.layers):
            if i == self.skip:
                h = torch.cat([h, x], dim=-1)
            h = torch.relu(layer(h))
        sigma = torch.relu(self.sigma(h)).squeeze(0)
        rgb = self.color(torch.cat([self.feature(h), d], dim=-1))
        return rgb, sigma


def cumprod_exclusive(tensor):
    product = torch.cumprod(tensor, dim=-1)
    product = torch.roll(product, 1, dims=-1)
    product[..., 0] = 1.0
    return product


def render(model, rays_o, rays_d, near, far, n_samples):
    t = torch.linspace(0.0, 1.0, n_samples)
    z = near * (1.0 - t) + far * t
    z = z.expand(rays_o.shape[0], n_samples)
    z = z + torch.rand_like(z) * (far - near) / n_samples
    points = rays_o[:, None, :] + rays_d[:, None, :] * z[..., :, None]
    views = rays_d / rays_d.norm(dim=-1, keepdim=True)
    views = views[:, None, :].expand(points.shape)
    rgb, sigma = model(positional_encoding(points.reshape(-1, 3), 6), positional_encoding(views.reshape(-1, 3), 4))
    rgb = rgb.view(*points.shape[:2], 3)
    sigma = sigma.view(points.shape[:2])
    deltas = torch.cat([z[..., 1:] - z[..., :-1], torch.full_like(z[..., :1], 1e10)], dim=-1)
    alpha = 1.0 - torch.exp(-sigma * deltas[..., None])
    weights = alpha * cumprod_exclusive(1.0 - alpha + 1e-10)
    color = (weights[..., None] * rgb).sum(dim=-2)
    depth = (weights * z).sum(dim=-1)
    return color, depth


def train(steps=2, height=12, width=10, batch=32):
    torch.manual_seed(0)
    np.random.seed(0)
    images = np.random.rand(3, height, width, 3).astype(np.float32)
    poses = np.stack([np.eye(4, dtype=np.float32) for _ in range(3)])
    rays = [get_rays(height, width, 15.0, p) for p in poses]
    rays_o = torch.from_numpy(np.stack([r[0] for r in rays]).reshape(-1, 3))
    rays_d = torch.from_numpy(np.stack([r[1] for r in rays]).reshape(-1, 3))
    target = torch.from_numpy(images).reshape(-1, 3)
    model = NeRF()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
    for step in range(steps):
        pick = torch.randint(0, target.shape[0], (batch,))
        color, depth = render(model, rays_o[pick], rays_d[pick], 2.0, 6.0, 16)
        loss = ((color - target[pick]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


print(train())
