# Complex weights on the lowest frequencies: the others are zeros, into which the result is written.
import torch
import torch.nn as nn
import torch.nn.functional as F


class SpectralConv1d(nn.Module):
    def __init__(self, in_channels, out_channels, modes1):
        super().__init__()
        self.in_channels, self.out_channels, self.modes1 = in_channels, out_channels, modes1
        self.scale = 1 / (in_channels * out_channels)
        self.weights1 = nn.Parameter(self.scale * torch.rand(in_channels, out_channels, self.modes1, dtype=torch.cfloat))

    def compl_mul1d(self, input, weights):
        return torch.einsum("bix,iox->box", input, weights)

    def forward(self, x):
        batchsize = x.shape[0]
        x_ft = torch.fft.rfft(x)
        out_ft = torch.zeros(batchsize, self.out_channels, x.size(-1) // 2 + 1, device=x.device, dtype=torch.cfloat)
        out_ft[:, :, :self.modes1] = self.compl_mul1d(x_ft[:, :, :self.modes1], self.weights1)
        return torch.fft.irfft(out_ft, n=x.size(-1))


class FNO1d(nn.Module):
    def __init__(self, modes, width):
        super().__init__()
        self.fc0 = nn.Linear(2, width)
        self.conv0, self.conv1 = SpectralConv1d(width, width, modes), SpectralConv1d(width, width, modes)
        self.w0, self.w1 = nn.Conv1d(width, width, 1), nn.Conv1d(width, width, 1)
        self.fc1, self.fc2 = nn.Linear(width, 64), nn.Linear(64, 1)

    def forward(self, x):
        grid = torch.linspace(0, 1, x.shape[1]).reshape(1, -1, 1).repeat([x.shape[0], 1, 1])
        x = self.fc0(torch.cat((x, grid), dim=-1)).permute(0, 2, 1)
        x = F.gelu(self.conv0(x) + self.w0(x))
        x = self.conv1(x) + self.w1(x)
        return self.fc2(F.gelu(self.fc1(x.permute(0, 2, 1))))


model = FNO1d(8, 16)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)
for ep in range(2):
    x, y = torch.randn(4, 64, 1), torch.randn(4, 64, 1)
    optimizer.zero_grad()
    out = model(x)
    mse = F.mse_loss(out.view(4, -1), y.view(4, -1), reduction="mean")
    mse.backward()
    optimizer.step()
