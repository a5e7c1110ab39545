"""Variable-length token lists: dynamic padding in the collate function, masked mean pooling."""
from functools import partial

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PAD = 0
CORPUS = [[4, 9, 2], [7, 3, 8, 8, 1], [5], [2, 2, 6, 9], [11, 3], [1, 4, 4, 4, 10, 2], [8, 7, 7], [3, 12]]


class TokenDataset(Dataset):
    def __init__(self, corpus):
        self.items = [(torch.tensor(ids), len(ids) % 2) for ids in corpus]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


def pad_collate(batch, pad_value, multiple=1):
    longest = max(ids.size(0) for ids, _ in batch)
    longest = -(-longest // multiple) * multiple
    rows = []
    for ids, _ in batch:
        fill = torch.full((longest - ids.size(0),), pad_value, dtype=ids.dtype)
        rows.append(torch.cat([ids, fill]))
    tokens = torch.stack(rows, dim=2)
    labels = torch.tensor([label for _, label in batch])
    return {"tokens": tokens, "mask": tokens != pad_value, "labels": labels}


class MeanPoolClassifier(nn.Module):
    def __init__(self, vocab_size, dim, classes):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, dim, padding_idx=PAD)
        self.body = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim), nn.GELU())
        self.out = nn.Linear(dim, classes)

    def pool(self, x, mask):
        weights = mask.unsqueeze(-1).to(x.dtype)
        return (x * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1e-6)

    def forward(self, tokens, mask):
        x = self.body(self.embedding(tokens))
        pooled = self.pool(x, mask)
        return self.out(pooled)


def step(model, batch, optimizer, criterion):
    logits = model(batch["tokens"], batch["mask"])
    loss = criterion(logits, batch["labels"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    loader = DataLoader(TokenDataset(CORPUS), batch_size=3, collate_fn=partial(pad_collate, pad_value=PAD, multiple=4))
    model = MeanPoolClassifier(vocab_size=16, dim=12, classes=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(2):
        losses = [step(model, batch, optimizer, criterion) for batch in loader]
        print(epoch, sum(losses) / len(losses))
