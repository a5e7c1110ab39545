"""Sequence-to-sequence regression: an LSTM reads the past and another one writes the future; library with a self test."""
import torch
from torch import Tensor, nn

PAST = 24
FUTURE = 8


class Forecaster(nn.Module):
    def __init__(self, features: int, hidden: int = 20) -> None:
        super().__init__()
        self.encoder = nn.LSTM(features, hidden, batch_first=True)
        self.decoder = nn.LSTM(features, hidden, batch_first=True)
        self.out = nn.Linear(hidden, features)

    def forward(self, past: Tensor, future: Tensor) -> Tensor:
        _, state = self.encoder(past)
        previous = torch.cat([past[:, -1:], future[:, :-1]], dim=1)
        hidden, _ = self.decoder(previous, state)
        return self.out(hidden)

    @torch.no_grad()
    def predict(self, past: Tensor, steps: int) -> Tensor:
        _, state = self.encoder(past)
        step = past[:, -1:]
        outputs = []
        for _ in range(steps):
            hidden, state = self.decoder(step, state)
            step = self.out(hidden)
            outputs.append(step)
        return torch.cat(outputs, dim=1)


def split(series: Tensor):
    """series [batch, PAST + FUTURE, features]"""
    past = series[:, :PAST]
    future = series[:, PAST:]
    return past, future


def make_series(batch: int, features: int = 3) -> Tensor:
    t = torch.arange(PAST + FUTURE).float()
    phase = torch.rand(batch, 1, features) * 6.28
    speed = torch.linspace(0.2, 0.6, features)
    return torch.sin(t[None, :, None] * speed + phase)


def train(model: nn.Module, batches: int = 3, lr: float = 1e-2) -> float:
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for _ in range(batches):
        series = make_series(16)
        past, future = split(series)
        forecast = model(past, future)
        loss = nn.functional.mse_loss(forecast, future)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return loss.item()


def self_test() -> float:
    torch.manual_seed(0)
    model = Forecaster(3)
    loss = train(model)
    series = make_series(4)
    past, future = split(series)
    predicted = model.predict(past, FUTURE)
    tail = series[:, PAST + FUTURE - 2:]
    drift = (predicted[:, -2:] - tail).abs().mean(dim=(0, 1))
    assert predicted.shape == future.shape
    return loss + drift.sum().item()


if __name__ == "__main__":
    print(self_test())
