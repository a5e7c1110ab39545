"""Spectrogram -> CNN -> bidirectional GRU -> CTC, with typed configuration."""
from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass
class SpeechConfig:
    n_mels: int = 32
    channels: int = 16
    rnn_dim: int = 24
    rnn_layers: int = 2
    vocabulary: int = 29
    blank: int = 28


class NormGelu(nn.Module):
    """Layer norm over the frequency axis of [batch, channel, feature, time]."""

    def __init__(self, n_feats: int) -> None:
        super().__init__()
        self.layer_norm = nn.LayerNorm(n_feats)

    def forward(self, x: Tensor) -> Tensor:
        x = x.transpose(2, 3).contiguous()
        x = self.layer_norm(x)
        return nn.functional.gelu(x).transpose(2, 3).contiguous()


class ResidualCNN(nn.Module):
    def __init__(self, channels: int, n_feats: int) -> None:
        super().__init__()
        self.cnn1 = nn.Conv2d(channels, channels, 3, 1, padding=1)
        self.cnn2 = nn.Conv2d(channels, channels, 3, 1, padding=1)
        self.norm1 = NormGelu(n_feats)
        self.norm2 = NormGelu(n_feats)

    def forward(self, x: Tensor) -> Tensor:
        residual = x
        x = self.cnn1(self.norm1(x))
        x = self.cnn2(self.norm2(x))
        x += residual
        return x


class SpeechModel(nn.Module):
    def __init__(self, config: SpeechConfig) -> None:
        super().__init__()
        self.config = config
        n_feats = config.n_mels // 2
        self.cnn = nn.Conv2d(1, config.channels, 3, stride=2, padding=1)
        self.res = nn.Sequential(*[ResidualCNN(config.channels, n_feats) for _ in range(2)])
        self.fully_connected = nn.Linear(n_feats * config.channels, config.rnn_dim)
        self.rnn = nn.GRU(config.rnn_dim, config.rnn_dim, config.rnn_layers, batch_first=True, bidirectional=True)
        self.classifier = nn.Sequential(
            nn.Linear(config.rnn_dim * 2, config.rnn_dim), nn.GELU(), nn.Linear(config.rnn_dim, config.vocabulary))

    def forward(self, x: Tensor) -> Tensor:
        x = self.cnn(x)
        x = self.res(x)
        sizes = x.size()
        x = x.view(sizes[0], sizes[1] * sizes[2], sizes[3])
        x = x.transpose(1, 2)
        x = self.fully_connected(x)
        x, _ = self.rnn(x)
        return self.classifier(x)


def main() -> None:
    torch.manual_seed(0)
    config = SpeechConfig()
    model = SpeechModel(config)
    criterion = nn.CTCLoss(blank=config.blank)
    spectrograms = torch.rand(3, 1, config.n_mels, 50)
    labels = torch.randint(0, config.blank, (3, 8))
    label_lengths = torch.tensor([8, 6, 5])
    output = model(spectrograms)
    log_probs = nn.functional.log_softmax(output, dim=2)
    log_probs = log_probs.transpose(0, 1)
    input_lengths = torch.full((3,), log_probs.size(0), dtype=torch.long)
    loss = criterion(log_probs, labels, input_lengths, label_lengths)
    loss.backward()
    decoded = output.argmax(dim=2)
    print(loss.item(), decoded.shape)


if __name__ == "__main__":
    main()
