import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab=50, width=16, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        layer = nn.TransformerEncoderLayer(width, nhead=2, dim_feedforward=32, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens):
        return self.head(self.blocks(self.embed(tokens)))


def train(model, steps=3, grad_clip=1.0):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    model.train()
    for _ in range(steps):
        tokens = torch.randint(0, 50, (2, 12))
        loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()


train(Encoder())
