# A stack of gated, dilated, causal convolutions over quantised audio.
import torch
import torch.nn as nn
import torch.nn.functional as F


def mu_law_encode(audio, channels=64):
    mu = channels - 1
    magnitude = torch.log1p(mu * audio.abs()) / torch.log1p(torch.tensor(float(mu)))
    signal = audio.sign() * magnitude
    return ((signal + 1) / 2 * mu + 0.5).long()


class CausalConv1d(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, dilation):
        super().__init__()
        self.padding = (kernel_size - 1) * dilation
        self.conv = nn.Conv1d(in_channels, out_channels, kernel_size, padding=self.padding, dilation=dilation)

    def forward(self, x):
        out = self.conv(x)
        return out


class GatedBlock(nn.Module):
    def __init__(self, residual, skip, kernel_size, dilation):
        super().__init__()
        self.filter = CausalConv1d(residual, residual, kernel_size, dilation)
        self.gate = CausalConv1d(residual, residual, kernel_size, dilation)
        self.to_residual = nn.Conv1d(residual, residual, 1)
        self.to_skip = nn.Conv1d(residual, skip, 1)

    def forward(self, x):
        activated = torch.tanh(self.filter(x)) * torch.sigmoid(self.gate(x))
        skip = self.to_skip(activated)
        residual = self.to_residual(activated) + x
        return residual, skip


class WaveNet(nn.Module):
    def __init__(self, classes=64, residual=16, skip=24, layers=4, stacks=2, kernel_size=2):
        super().__init__()
        self.embed = nn.Embedding(classes, residual)
        dilations = [2 ** i for i in range(layers)] * stacks
        self.blocks = nn.ModuleList([GatedBlock(residual, skip, kernel_size, d) for d in dilations])
        self.receptive_field = (kernel_size - 1) * sum(dilations) + 1
        self.head = nn.Sequential(nn.ReLU(), nn.Conv1d(skip, skip, 1), nn.ReLU(), nn.Conv1d(skip, classes, 1))

    def forward(self, codes):
        x = self.embed(codes).transpose(1, 2)
        total = 0
        for block in self.blocks:
            x, skip = block(x)
            total = total + skip
        return self.head(total)


torch.manual_seed(0)
seconds = torch.linspace(0, 1, 128)
audio = torch.stack([torch.sin(2 * torch.pi * f * seconds) for f in (3.0, 5.0, 9.0)])
codes = mu_law_encode(audio)
model = WaveNet()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(2):
    logits = model(codes[:, :-1])
    loss = F.cross_entropy(logits, codes[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    last = model(codes)[:, :, -1]
    following = last.argmax(dim=1)
print(model.receptive_field, loss.item(), following)
