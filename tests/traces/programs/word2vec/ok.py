"""Skip-gram with negative sampling."""
from collections import Counter

import torch
import torch.nn as nn
import torch.nn.functional as F

TEXT = """the cat sat on the mat the dog sat on the log the cat saw the dog and the dog saw the cat
a bird flew over the log and the mat and the cat watched the bird""".split()


class Vocabulary:
    def __init__(self, words):
        counts = Counter(words)
        self.itos = ["<unk>"] + [w for w, _ in counts.most_common()]
        self.stoi = {w: i for i, w in enumerate(self.itos)}
        self.freqs = torch.tensor([1.0] + [float(counts[w]) for w in self.itos[1:]])

    def __len__(self):
        return len(self.itos)

    def __getitem__(self, word):
        return self.stoi.get(word, 0)


class SkipGram(nn.Module):
    def __init__(self, vocab_size, dim):
        super().__init__()
        self.center = nn.Embedding(vocab_size, dim)
        self.context = nn.Embedding(vocab_size, dim)
        bound = 0.5 / dim
        nn.init.uniform_(self.center.weight, -bound, bound)
        nn.init.zeros_(self.context.weight)

    def forward(self, center, positive, negative):
        v = self.center(center)
        u_pos = self.context(positive)
        u_neg = self.context(negative)
        pos_score = (v * u_pos).sum(dim=1)
        neg_score = torch.bmm(u_neg, v.unsqueeze(2)).squeeze(2)
        pos_loss = F.logsigmoid(pos_score)
        neg_loss = F.logsigmoid(-neg_score).sum(dim=1)
        return -(pos_loss + neg_loss).mean()


def make_pairs(ids, window=2):
    centers, contexts = [], []
    for i, center in enumerate(ids):
        for j in range(max(0, i - window), min(len(ids), i + window + 1)):
            if i != j:
                centers.append(center)
                contexts.append(ids[j])
    return torch.tensor(centers), torch.tensor(contexts)


def nearest(model, index, k=3):
    weights = F.normalize(model.center.weight.detach(), dim=1)
    similarity = weights @ weights[index]
    top = similarity.topk(k + 1).indices[1:]
    return top.tolist()


def main():
    torch.manual_seed(0)
    vocab = Vocabulary(TEXT)
    ids = [vocab[w] for w in TEXT]
    centers, contexts = make_pairs(ids)
    noise = vocab.freqs.pow(0.75)
    noise = noise / noise.sum()
    model = SkipGram(len(vocab), dim=12)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batch, k = 32, 5
    for start in range(0, len(centers) - batch, batch):
        c = centers[start:start + batch]
        p = contexts[start:start + batch]
        negative = torch.multinomial(noise, c.size(0) * k, replacement=True).view(c.size(0), k)
        loss = model(c, p, negative)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item(), nearest(model, vocab["cat"]))


if __name__ == "__main__":
    main()
