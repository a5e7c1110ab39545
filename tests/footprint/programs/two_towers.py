# Pictures and texts, and a scale that is kept within bounds after each step.
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class ImageEncoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 32, 4, 4), nn.GELU(), nn.Conv2d(32, 64, 2, 2), nn.GELU())
        self.head = nn.Linear(64, dim)

    def forward(self, x):
        return self.head(self.stem(x).mean(dim=(2, 3)))


class TextEncoder(nn.Module):
    def __init__(self, vocab, dim, context=16):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(torch.empty(context, dim).normal_(std=0.01))
        layer = nn.TransformerEncoderLayer(dim, 4, dim * 4, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.ln = nn.LayerNorm(dim)
        self.proj = nn.Parameter(torch.empty(dim, dim).normal_(std=dim ** -0.5))
        mask = torch.full((context, context), float("-inf")).triu_(1)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, text):
        x = self.tok(text) + self.pos
        x = self.ln(self.encoder(x, mask=self.mask))
        return x[torch.arange(x.shape[0]), text.argmax(dim=-1)] @ self.proj


class CLIP(nn.Module):
    def __init__(self, vocab=128, dim=64):
        super().__init__()
        self.visual = ImageEncoder(dim)
        self.text = TextEncoder(vocab, dim)
        self.logit_scale = nn.Parameter(torch.ones([]) * np.log(1 / 0.07))

    def forward(self, image, text):
        i = F.normalize(self.visual(image), dim=-1)
        t = F.normalize(self.text(text), dim=-1)
        logits = self.logit_scale.exp() * i @ t.t()
        labels = torch.arange(image.shape[0])
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2


model = CLIP()
exclude = lambda n, p: p.ndim < 2 or "bn" in n or "ln" in n or "bias" in n or "logit_scale" in n
include = lambda n, p: not exclude(n, p)
named = list(model.named_parameters())
gain_or_bias = [p for n, p in named if exclude(n, p) and p.requires_grad]
rest = [p for n, p in named if include(n, p) and p.requires_grad]
optimizer = torch.optim.AdamW([{"params": gain_or_bias, "weight_decay": 0.0}, {"params": rest, "weight_decay": 0.2}], lr=5e-4, betas=(0.9, 0.98), eps=1e-6)
for i in range(2):
    loss = model(torch.randn(8, 3, 32, 32), torch.randint(128, (8, 16)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        model.logit_scale.clamp_(0, np.log(100))
