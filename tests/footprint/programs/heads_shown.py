"""Attentions whose weights are the loss's too, that add keys of their own, and that get three views of one tensor."""
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.read = nn.MultiheadAttention(width, heads, dropout=0.1, kdim=24, vdim=20, batch_first=True)
        self.mix = nn.MultiheadAttention(width, heads, bias=False, add_zero_attn=True)
        self.more = nn.MultiheadAttention(width, heads, add_bias_kv=True, batch_first=True)
        self.norm = nn.LayerNorm(width)

    def forward(self, x, keys, values, padding):
        found, weights = self.read(x, keys, values, key_padding_mask=padding, average_attn_weights=False)
        x = self.norm(x + found)
        mixed, _ = self.mix(x.transpose(0, 1), x.transpose(0, 1), x.transpose(0, 1), need_weights=False)
        x = x + mixed.transpose(0, 1)
        return x + self.more(x, x, x, key_padding_mask=padding[:, :6], need_weights=False)[0], weights


layers = nn.ModuleList(Layer(32, 4) for _ in range(2))
optimizer = torch.optim.Adam(layers.parameters(), weight_decay=0.1)
x, keys, values = torch.randn(3, 6, 32), torch.randn(3, 9, 24), torch.randn(3, 9, 20)
padding = torch.zeros(3, 9, dtype=torch.bool)
spread = 0.0
for layer in layers:
    x, weights = layer(x, keys, values, padding)
    spread = spread + (weights * weights.clamp_min(1e-9).log()).sum(-1).mean()
loss = x.pow(2).mean() - 0.01 * spread
loss.backward()
optimizer.step()
