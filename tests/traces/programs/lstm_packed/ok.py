# Name classification: packed sequences with a custom collate function.
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

NAMES = [
    ("satoshi", 0), ("yuki", 0), ("haruka", 0), ("kenji", 0),
    ("dmitri", 1), ("olga", 1), ("sergei", 1), ("anastasia", 1),
    ("giovanni", 2), ("lucia", 2), ("marco", 2), ("francesca", 2),
]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
NUM_CLASSES = 3


class NamesDataset(Dataset):
    def __init__(self, pairs):
        self.pairs = pairs

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, index):
        name, label = self.pairs[index]
        ids = torch.tensor([LETTERS.index(c) + 1 for c in name], dtype=torch.long)
        return ids, label


def collate(batch):
    batch.sort(key=lambda item: len(item[0]), reverse=True)
    sequences, labels = zip(*batch)
    lengths = torch.tensor([len(s) for s in sequences])
    padded = pad_sequence(sequences, batch_first=True)
    return padded, lengths, torch.tensor(labels)


class NameClassifier(nn.Module):
    def __init__(self, vocab=len(LETTERS) + 1, emb=16, hidden=24, layers=1, classes=NUM_CLASSES):
        super().__init__()
        self.hidden = hidden
        self.layers = layers
        self.embedding = nn.Embedding(vocab, emb, padding_idx=0)
        self.lstm = nn.LSTM(emb, hidden, layers, batch_first=True)
        self.fc = nn.Linear(2 * hidden, classes)

    def forward(self, padded, lengths):
        batch = padded.size(0)
        h0 = torch.zeros(self.layers, batch, self.hidden)
        c0 = torch.zeros(self.layers, batch, self.hidden)
        embedded = self.embedding(padded)
        packed = pack_padded_sequence(embedded, lengths, batch_first=True)
        packed_out, (h_n, c_n) = self.lstm(packed, (h0, c0))
        out, out_lengths = pad_packed_sequence(packed_out, batch_first=True)
        mean = out.sum(1) / out_lengths.unsqueeze(1)
        features = torch.cat([h_n[-1], mean], dim=-1)
        return self.fc(features)


def main():
    torch.manual_seed(0)
    loader = DataLoader(NamesDataset(NAMES), batch_size=6, shuffle=False, collate_fn=collate)
    model = NameClassifier()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(2):
        for padded, lengths, labels in loader:
            logits = model(padded, lengths)
            loss = criterion(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
