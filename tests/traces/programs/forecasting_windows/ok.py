"""Long-term forecasting with a linear model per channel (DLinear-like) on unfolded windows."""
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass
class Settings:
    seq_len: int = 48
    pred_len: int = 12
    channels: int = 4
    kernel: int = 13
    individual: bool = True


class MovingAverage(nn.Module):
    """Smooths along time, repeating the edges so that the length stays."""

    def __init__(self, kernel: int):
        super().__init__()
        self.kernel = kernel
        self.avg = nn.AvgPool1d(kernel, stride=1, padding=0)

    def forward(self, x: Tensor) -> Tensor:
        half = (self.kernel - 1) // 2
        front = x[:, 0:1, :].repeat(1, half, 1)
        end = x[:, -1:, :].repeat(1, half, 1)
        x = torch.cat([front, x, end], dim=1)
        x = self.avg(x.permute(0, 2, 1))
        return x.permute(0, 2, 1)


class DLinear(nn.Module):
    def __init__(self, s: Settings):
        super().__init__()
        self.s = s
        self.smooth = MovingAverage(s.kernel)
        if s.individual:
            self.seasonal = nn.ModuleList(nn.Linear(s.seq_len, s.pred_len) for _ in range(s.channels))
            self.trend = nn.ModuleList(nn.Linear(s.seq_len, s.pred_len) for _ in range(s.channels))
        else:
            self.seasonal = nn.Linear(s.seq_len, s.pred_len)
            self.trend = nn.Linear(s.seq_len, s.pred_len)

    def forward(self, x: Tensor) -> Tensor:
        trend = self.smooth(x)
        seasonal = x - trend
        seasonal, trend = seasonal.permute(0, 2, 1), trend.permute(0, 2, 1)
        if self.s.individual:
            out = torch.zeros(x.size(0), self.s.channels, self.s.pred_len)
            for i in range(self.s.channels):
                out[:, i, :] = self.seasonal[i](seasonal[:, i, :]) + self.trend[i](trend[:, i, :])
        else:
            out = self.seasonal(seasonal) + self.trend(trend)
        return out.permute(0, 2, 1)


def windows(series: Tensor, s: Settings):
    """series [time, channels] -> inputs [n, seq_len, channels], targets [n, pred_len, channels]"""
    total = s.seq_len + s.pred_len
    unfolded = series.unfold(0, total, 6).permute(0, 2, 1)
    return unfolded[:, :s.seq_len], unfolded[:, s.seq_len:]


def main():
    torch.manual_seed(0)
    s = Settings()
    time = torch.arange(240).float()
    waves = [torch.sin(time / (3 + k)) for k in range(s.channels)]
    series = torch.stack(waves, dim=-1) + 0.05 * torch.randn(240, s.channels)
    inputs, targets = windows(series, s)
    model = DLinear(s)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(3):
        forecast = model(inputs)
        loss = nn.functional.l1_loss(forecast, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        last = series[-s.seq_len:].unsqueeze(0)
        future = model(last)[0]
        baseline = last[0, -1:].expand(s.pred_len, -1)
        gap = (future - baseline).abs().mean(dim=0)
    print(inputs.shape, loss.item(), gap.shape)


if __name__ == "__main__":
    main()
