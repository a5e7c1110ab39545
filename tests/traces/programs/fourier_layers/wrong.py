"""Fourier neural operator in one dimension: spectral convolutions on the lowest modes."""
import torch
import torch.fft
import torch.nn as nn
import torch.nn.functional as F


class SpectralConv1d(nn.Module):
    def __init__(self, in_channels, out_channels, modes):
        super().__init__()
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.modes = modes
        scale = 1 / (in_channels * out_channels)
        self.weights = nn.Parameter(scale * torch.rand(in_channels, out_channels, modes, dtype=torch.cfloat))

    def forward(self, x):
        batchsize = x.shape[0]
        x_ft = torch.fft.rfft(x)
        out_ft = torch.zeros(batchsize, self.out_channels, x.size(-1) // 2 + 1, dtype=torch.cfloat)
        low = x_ft[:, :, :self.modes]
        out_ft[:, :, :self.modes] = torch.einsum("bix,iox->box", low, self.weights)
        return torch.fft.irfft(out_ft, n=self.modes)


class FNO1d(nn.Module):
    def __init__(self, modes=8, width=16, depth=3):
        super().__init__()
        self.padding = 2
        self.lift = nn.Linear(2, width)
        self.spectral = nn.ModuleList([SpectralConv1d(width, width, modes) for _ in range(depth)])
        self.pointwise = nn.ModuleList([nn.Conv1d(width, width, 1) for _ in range(depth)])
        self.fc1 = nn.Linear(width, 32)
        self.fc2 = nn.Linear(32, 1)

    def get_grid(self, shape):
        batchsize, size_x = shape[0], shape[1]
        grid = torch.linspace(0, 1, size_x).reshape(1, size_x, 1)
        return grid.repeat([batchsize, 1, 1])

    def forward(self, x):
        grid = self.get_grid(x.shape)
        x = torch.cat((x, grid), dim=-1)
        x = self.lift(x)
        x = x.permute(0, 2, 1)
        x = F.pad(x, [0, self.padding])
        for i, (spectral, pointwise) in enumerate(zip(self.spectral, self.pointwise)):
            x1 = spectral(x)
            x2 = pointwise(x)
            x = x1 + x2
            if i < len(self.spectral) - 1:
                x = F.gelu(x)
        x = x[..., :-self.padding]
        x = x.permute(0, 2, 1)
        x = F.gelu(self.fc1(x))
        return self.fc2(x)


class LpLoss:
    def __init__(self, p=2):
        self.p = p

    def __call__(self, x, y):
        n = x.size(0)
        diff = torch.norm(x.reshape(n, -1) - y.reshape(n, -1), self.p, 1)
        size = torch.norm(y.reshape(n, -1), self.p, 1)
        return torch.mean(diff / size)


torch.manual_seed(0)
points = torch.linspace(0, 2 * torch.pi, 40)
phase = torch.rand(6, 1) * 2
initial = torch.sin(points + phase).unsqueeze(-1)
final = 0.5 * torch.sin(points + phase + 0.3).unsqueeze(-1)
model = FNO1d()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = LpLoss()
for step in range(2):
    out = model(initial)
    loss = criterion(out, final)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
spectrum = torch.fft.fft(out.detach().squeeze(-1), dim=1)
power = spectrum.abs().pow(2).mean(dim=0)
print(loss.item(), power.shape)
