# A prompt that is trained in front of a frozen encoder, of which one layer is used several times, and frozen attention after it.
import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, vocab=200, dim=48, heads=4, repeats=3):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.layer = nn.TransformerEncoderLayer(dim, heads, 96, dropout=0.0, batch_first=True)
        self.repeats = repeats

    def forward(self, x):
        for _ in range(self.repeats):
            x = self.layer(x)
        return x


class PromptTuned(nn.Module):
    def __init__(self, encoder, n=5, classes=3):
        super().__init__()
        self.encoder = encoder
        self.encoder.requires_grad_(False)
        self.prompt = nn.Parameter(torch.randn(n, encoder.tok.embedding_dim) * 0.02)
        self.head = nn.Linear(encoder.tok.embedding_dim, classes)

    def forward(self, ids):
        x = self.encoder.tok(ids)
        x = torch.cat([self.prompt.expand(ids.size(0), -1, -1), x], dim=1)
        return self.head(self.encoder(x).mean(1))


model = PromptTuned(Encoder())
first = nn.TransformerEncoderLayer(48, 4, 64, dropout=0.0, activation="gelu", batch_first=True, norm_first=True).requires_grad_(False)
attention = nn.MultiheadAttention(48, 4, batch_first=True).requires_grad_(False)
opt = torch.optim.Adam(filter(lambda p: p.requires_grad, model.parameters()), lr=1e-2)
x = first(model.prompt.expand(4, -1, -1))
extra = attention(x, x, x, need_weights=False)[0].mean()
loss = nn.functional.cross_entropy(model(torch.randint(200, (4, 12))), torch.randint(3, (4,))) + extra
loss.backward()
opt.step()
