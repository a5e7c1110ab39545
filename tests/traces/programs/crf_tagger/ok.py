"""BiLSTM-CRF: partition function by dynamic programming in log space, Viterbi decoding, masks for padding."""
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

SENTENCES = [("the cat sat".split(), "D N V".split()), ("a dog ran far away".split(), "D N V A A".split()), ("birds fly".split(), "N V".split())]


class CRF(nn.Module):
    def __init__(self, num_tags):
        super().__init__()
        self.num_tags = num_tags
        self.start = nn.Parameter(torch.empty(num_tags))
        self.end = nn.Parameter(torch.empty(num_tags))
        self.transitions = nn.Parameter(torch.empty(num_tags, num_tags))
        for p in self.parameters():
            nn.init.uniform_(p, -0.1, 0.1)

    def score(self, emissions, tags, mask):
        seq_len, batch = tags.shape
        score = self.start[tags[0]] + emissions[0, torch.arange(batch), tags[0]]
        for i in range(1, seq_len):
            step = self.transitions[tags[i - 1], tags[i]] + emissions[i, torch.arange(batch), tags[i]]
            score = score + step * mask[i]
        last = mask.long().sum(dim=0) - 1
        return score + self.end[tags[last, torch.arange(batch)]]

    def normalizer(self, emissions, mask):
        score = self.start + emissions[0]
        for i in range(1, emissions.size(0)):
            total = score.unsqueeze(2) + self.transitions + emissions[i].unsqueeze(1)
            following = torch.logsumexp(total, dim=1)
            score = torch.where(mask[i].unsqueeze(1).bool(), following, score)
        return torch.logsumexp(score + self.end, dim=1)

    def decode(self, emissions, mask):
        score = self.start + emissions[0]
        history = []
        for i in range(1, emissions.size(0)):
            best, index = (score.unsqueeze(2) + self.transitions + emissions[i].unsqueeze(1)).max(dim=1)
            score = torch.where(mask[i].unsqueeze(1).bool(), best, score)
            history.append(index)
        score = score + self.end
        ends = mask.long().sum(dim=0) - 1
        paths = []
        for b in range(emissions.size(1)):
            _, tag = score[b].max(dim=0)
            path = [tag.item()]
            for hist in reversed(history[: ends[b]]):
                path.append(hist[b][path[-1]].item())
            paths.append(path[::-1])
        return paths

    def forward(self, emissions, tags, mask):
        return (self.normalizer(emissions, mask) - self.score(emissions, tags, mask)).mean()


class Tagger(nn.Module):
    def __init__(self, vocab, tags, emb=16, hidden=20):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb, padding_idx=0)
        self.lstm = nn.LSTM(emb, hidden // 2, bidirectional=True)
        self.fc = nn.Linear(hidden, tags)
        self.crf = CRF(tags)

    def emissions(self, words):
        out, _ = self.lstm(self.emb(words))
        return self.fc(out)

    def forward(self, words, tags, mask):
        return self.crf(self.emissions(words), tags, mask)


def main():
    torch.manual_seed(0)
    word2id, tag2id = {"<pad>": 0}, {}
    for words, tags in SENTENCES:
        for w in words:
            word2id.setdefault(w, len(word2id))
        for t in tags:
            if t not in tag2id:
                tag2id[t] = len(tag2id)
    xs = pad_sequence([torch.tensor([word2id[w] for w in words]) for words, _ in SENTENCES])
    ys = pad_sequence([torch.tensor([tag2id[t] for t in tags]) for _, tags in SENTENCES])
    mask = (xs != 0).float()
    model = Tagger(len(word2id), len(tag2id))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        loss = model(xs, ys, mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(loss.item(), model.crf.decode(model.emissions(xs), mask))


main()
