"""The model that the training script imports."""
import torch
from torch import nn


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, context, width=32, heads=2, layers=2):
        super().__init__()
        self.context = context
        self.tokens = nn.Embedding(vocab_size, width)
        self.positions = nn.Parameter(0.02 * torch.randn(1, context, width))
        layer = nn.TransformerEncoderLayer(
            width, heads, dim_feedforward=4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab_size, bias=False)

    def forward(self, ids):
        length = ids.shape[1]
        h = self.tokens(ids) + self.positions[:, :length]
        causal = torch.full((length, length), float("-inf")).triu(1)
        h = self.layers(h, mask=causal)
        h = self.norm(h)
        return self.head(h)
