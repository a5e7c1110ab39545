# Kim's CNN for sentences: parallel convolutions of several widths and max over time.
import argparse
import re

import torch
import torch.nn as nn
import torch.nn.functional as F

SENTENCES = [
    ("a warm and funny film with real heart", 1),
    ("dull plot and wooden acting throughout", 0),
    ("i loved every minute of this odd little gem", 1),
    ("a complete waste of two long hours", 0),
]


def tokenize(s):
    return re.findall(r"[a-z]+", s.lower())


def build_vocab(sentences):
    vocab = {"<pad>": 0, "<unk>": 1}
    for s, _ in sentences:
        for w in tokenize(s):
            vocab.setdefault(w, len(vocab))
    return vocab


def encode(s, vocab, length):
    ids = [vocab.get(w, 1) for w in tokenize(s)][:length]
    return ids + [0] * (length - len(ids))


class TextCNN(nn.Module):
    def __init__(self, args, vocab_size):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, args.embed_dim)
        kernel_sizes = [int(k) for k in args.kernel_sizes.split(",")]
        self.convs = nn.ModuleList([nn.Conv2d(1, args.kernel_num, (k, args.embed_dim)) for k in kernel_sizes])
        self.dropout = nn.Dropout(args.dropout)
        self.fc1 = nn.Linear(len(kernel_sizes) * args.kernel_num, args.class_num)

    def forward(self, x):
        x = self.embed(x)
        x = x.unsqueeze(1)
        x = [F.relu(conv(x)).squeeze(3) for conv in self.convs]
        x = [F.max_pool1d(i, i.size(2)).squeeze(2) for i in x]
        x = torch.cat(x, 1)
        x = self.dropout(x)
        logit = self.fc1(x)
        return logit


def main(argv=None):
    parser = argparse.ArgumentParser(description="CNN text classifier")
    parser.add_argument("--embed-dim", type=int, default=16)
    parser.add_argument("--kernel-num", type=int, default=10)
    parser.add_argument("--kernel-sizes", type=str, default="2,3,4")
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--class-num", type=int, default=2)
    parser.add_argument("--length", type=int, default=9)
    args = parser.parse_args(argv)

    torch.manual_seed(0)
    vocab = build_vocab(SENTENCES)
    feature = torch.tensor([encode(s, vocab, args.length) for s, _ in SENTENCES])
    target = torch.tensor([label for _, label in SENTENCES])
    model = TextCNN(args, len(vocab))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(3):
        model.train()
        logit = model(feature)
        loss = F.cross_entropy(logit, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        corrects = (torch.max(model(feature), 1)[1] == target).sum()
    print(loss.item(), corrects.item())


if __name__ == "__main__":
    main()
