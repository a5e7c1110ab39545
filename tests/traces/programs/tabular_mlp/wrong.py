"""Tabular data: embeddings of the categories, batch norm of the numbers, an MLP over both."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

CARDINALITIES = {"city": 12, "weekday": 7, "device": 3}
NUMERIC = ["age", "income", "visits", "minutes"]


class Rows(Dataset):
    def __init__(self, n):
        self.categories = torch.stack([torch.randint(0, c, (n,)) for c in CARDINALITIES.values()], dim=1)
        self.numbers = torch.randn(n, len(NUMERIC))
        self.target = (self.numbers.sum(1) + self.categories[:, 0] > 5).float()

    def __len__(self):
        return self.target.shape[0]

    def __getitem__(self, i):
        return {"categories": self.categories[i], "numbers": self.numbers[i], "target": self.target[i]}


def embedding_size(cardinality):
    return min(8, (cardinality + 1) // 2)


class TabularModel(nn.Module):
    def __init__(self, cardinalities, n_numeric, hidden=(32, 16), dropout=0.1):
        super().__init__()
        self.embeddings = nn.ModuleList([nn.Embedding(c, embedding_size(c)) for c in cardinalities])
        n_emb = sum(e.embedding_dim for e in self.embeddings)
        self.norm = nn.BatchNorm1d(n_numeric)
        self.emb_dropout = nn.Dropout(dropout)
        layers = []
        size = n_emb
        for width in hidden:
            layers += [nn.Linear(size, width), nn.ReLU(), nn.BatchNorm1d(width), nn.Dropout(dropout)]
            size = width
        layers.append(nn.Linear(size, 1))
        self.mlp = nn.Sequential(*layers)

    def forward(self, categories, numbers):
        embedded = [emb(categories[:, i]) for i, emb in enumerate(self.embeddings)]
        x1 = torch.cat(embedded, dim=1)
        x1 = self.emb_dropout(x1)
        x2 = self.norm(numbers)
        x = torch.cat([x1, x2], dim=1)
        return self.mlp(x).squeeze(-1)


def fit(model, loader, epochs=2):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    criterion = nn.BCEWithLogitsLoss()
    model.train()
    for epoch in range(epochs):
        for batch in loader:
            logits = model(batch["categories"], batch["numbers"])
            target = batch["target"]
            loss = criterion(logits, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


def predict(model, rows):
    model.eval()
    with torch.no_grad():
        logits = model(rows.categories, rows.numbers)
        return torch.sigmoid(logits)


if __name__ == "__main__":
    torch.manual_seed(0)
    train = Rows(32)
    loader = DataLoader(train, batch_size=16, shuffle=True)
    model = TabularModel(list(CARDINALITIES.values()), len(NUMERIC))
    final = fit(model, loader)
    probabilities = predict(model, Rows(6))
    print(final, probabilities)
