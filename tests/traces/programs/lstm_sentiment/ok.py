"""Bidirectional LSTM for sentiment, padded batches, attention pooling over time."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class SentimentLSTM(nn.Module):
    def __init__(self, vocab_size, embedding_dim, hidden_dim, output_dim, n_layers, dropout, pad_idx=0):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim, padding_idx=pad_idx)
        self.lstm = nn.LSTM(
            embedding_dim,
            hidden_dim,
            num_layers=n_layers,
            bidirectional=True,
            batch_first=True,
            dropout=dropout if n_layers > 1 else 0,
        )
        self.attention = nn.Linear(hidden_dim * 2, 1)
        self.fc = nn.Linear(hidden_dim * 2, output_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, text, mask):
        embedded = self.dropout(self.embedding(text))
        output, (hidden, cell) = self.lstm(embedded)
        scores = self.attention(output).squeeze(-1)
        scores = scores.masked_fill(~mask, float("-inf"))
        weights = F.softmax(scores, dim=1)
        pooled = torch.bmm(weights.unsqueeze(1), output).squeeze(1)
        final = torch.cat((hidden[-2, :, :], hidden[-1, :, :]), dim=1)
        mixed = self.dropout(pooled + final)
        return self.fc(mixed)


def make_data(n, max_len, vocab_size):
    tokens = torch.randint(1, vocab_size, (n, max_len))
    lengths = torch.randint(3, max_len + 1, (n,))
    positions = torch.arange(max_len).unsqueeze(0)
    mask = positions < lengths.unsqueeze(1)
    tokens = tokens * mask
    labels = torch.randint(0, 2, (n,)).float()
    return TensorDataset(tokens, mask, labels)


def binary_accuracy(preds, y):
    rounded = torch.round(torch.sigmoid(preds))
    return (rounded == y).float().mean()


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--vocab", type=int, default=50)
    p.add_argument("--emb", type=int, default=24)
    p.add_argument("--hidden", type=int, default=32)
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--max_len", type=int, default=12)
    p.add_argument("--dropout", type=float, default=0.2)
    return p.parse_args()


def main():
    args = parse()
    torch.manual_seed(0)
    model = SentimentLSTM(args.vocab, args.emb, args.hidden, 1, args.layers, args.dropout)
    loader = DataLoader(make_data(16, args.max_len, args.vocab), batch_size=4, shuffle=True)
    optimizer = torch.optim.Adam(model.parameters())
    criterion = nn.BCEWithLogitsLoss()
    model.train()
    for epoch in range(2):
        epoch_loss, epoch_acc = 0.0, 0.0
        for text, mask, label in loader:
            optimizer.zero_grad()
            predictions = model(text, mask).squeeze(1)
            loss = criterion(predictions, label)
            acc = binary_accuracy(predictions, label)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            optimizer.step()
            epoch_loss += loss.item()
            epoch_acc += acc.item()
        print(f"{epoch}: {epoch_loss / len(loader):.3f} {epoch_acc / len(loader):.2f}")


if __name__ == "__main__":
    main()
