"""Layers that are made of others, under autocast: their weights are cast, and what drops is computed in float32."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 24)
        layer = nn.TransformerEncoderLayer(24, 4, 40, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(24), enable_nested_tensor=False)
        self.read = nn.MultiheadAttention(24, 3, batch_first=True)
        self.out = nn.utils.parametrizations.spectral_norm(nn.Linear(24, 50))

    def forward(self, ids):
        x = self.encoder(self.embed(ids))
        return self.out(self.read(x, x, x, need_weights=False)[0])


net = Net()
optimizer = torch.optim.AdamW(net.parameters())
ids = torch.randint(0, 50, (3, 11))
with torch.autocast("cpu", dtype=torch.bfloat16):
    loss = nn.functional.cross_entropy(net(ids).flatten(0, 1), ids.flatten())
loss.backward()
optimizer.step()
