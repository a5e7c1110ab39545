"""Text classifier on torch's own MultiheadAttention, settings in a nested dictionary."""
import torch
from torch import nn

SETTINGS = {
    "model": {"vocab": 80, "dim": 60, "heads": 5, "depth": 2, "ff": 90, "max_len": 20, "dropout": 0.1},
    "train": {"lr": 1e-3, "steps": 3, "batch": 6},
    "classes": ["sports", "politics", "science"],
}


class EncoderLayer(nn.Module):
    def __init__(self, dim, heads, ff, dropout):
        super().__init__()
        self.attention = nn.MultiheadAttention(dim, heads, dropout=dropout, batch_first=True)
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, ff), nn.ReLU(), nn.Dropout(dropout), nn.Linear(ff, dim))

    def forward(self, x, padding):
        normed = self.norm1(x)
        attended, weights = self.attention(normed, normed, normed, key_padding_mask=padding)
        x = x + attended
        x = x + self.ff(self.norm2(x))
        return x, weights


class TextClassifier(nn.Module):
    def __init__(self, vocab, dim, heads, depth, ff, max_len, dropout, classes):
        super().__init__()
        self.tokens = nn.Embedding(vocab, dim, padding_idx=0)
        self.positions = nn.Embedding(max_len, dim)
        self.layers = nn.ModuleList([EncoderLayer(dim, heads, ff, dropout) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, ids):
        padding = ids.eq(0)
        positions = torch.arange(ids.size(1), device=ids.device)
        x = self.tokens(ids) + self.positions(positions)
        all_weights = []
        for layer in self.layers:
            x, weights = layer(x, padding)
            all_weights.append(weights)
        x = self.norm(x)
        keep = (~padding).unsqueeze(-1)
        pooled = (x * keep).sum(1) / keep.sum(1)
        return self.head(pooled), torch.stack(all_weights)


def random_batch(size, length, vocab, classes):
    ids = torch.randint(1, vocab, (size, length))
    ids[:, length - 3:] = 0
    return ids, torch.randint(0, classes, (size,))


def train(settings):
    classes = len(settings["classes"])
    model = TextClassifier(**settings["model"], classes=classes)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings["train"]["lr"])
    criterion = nn.CrossEntropyLoss()
    model.train()
    for step in range(settings["train"]["steps"]):
        ids, labels = random_batch(settings["train"]["batch"], 14, settings["model"]["vocab"], classes)
        logits, weights = model(ids)
        loss = criterion(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model, weights, loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    model, weights, loss = train(SETTINGS)
    print(weights.shape, loss)
