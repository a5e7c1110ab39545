# Image-text contrastive training: negatives are gathered from all processes, and a queue keeps older ones.
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


def is_dist():
    return dist.is_available() and dist.is_initialized()


@torch.no_grad()
def gather(x):
    if not is_dist():
        return x
    parts = [torch.zeros_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, x.contiguous())
    return torch.cat(parts, dim=0)


class Pairs(Dataset):
    words = "a photo of cat dog car tree on the street".split()

    def __init__(self, n=20, length=6):
        self.vocab = {w: i + 3 for i, w in enumerate(self.words)}
        self.n, self.length = n, length

    def encode(self, text):
        ids = [1] + [self.vocab.get(w, 2) for w in text.split()][: self.length - 2]
        mask = [1] * len(ids) + [0] * (self.length - len(ids))
        ids = ids + [0] * (self.length - len(ids))
        return torch.tensor(ids), torch.tensor(mask)

    def __getitem__(self, i):
        ids, mask = self.encode(f"a photo of {self.words[3 + i % 4]}")
        return {"image": torch.randn(3, 32, 32), "input_ids": ids, "attention_mask": mask}

    def __len__(self):
        return self.n


class ImageTower(nn.Module):
    def __init__(self, width=16, out=24):
        super().__init__()
        chans = [3, width, width * 2, width * 4]
        self.body = nn.Sequential(*[nn.Sequential(nn.Conv2d(a, b, 3, 2, 1), nn.BatchNorm2d(b), nn.ReLU()) for a, b in zip(chans[:-1], chans[1:])])
        self.head = nn.Linear(chans[-1], out)

    def forward(self, x):
        return self.head(self.body(x).mean([2, 3]))


class TextTower(nn.Module):
    def __init__(self, vocab=16, width=32, heads=4, layers=2, length=6, out=24):
        super().__init__()
        self.tok = nn.Embedding(vocab, width)
        self.pos = nn.Parameter(torch.randn(1, length, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, heads, width * 4, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(width, out)

    def forward(self, input_ids, attention_mask):
        x = self.tok(input_ids) + self.pos[:, : input_ids.shape[1]]
        x = self.encoder(x, src_key_padding_mask=attention_mask == 0)
        m = attention_mask.unsqueeze(-1).float()
        return self.head((x * m).sum(1) / m.sum(1))


class Contrastive(nn.Module):
    def __init__(self, dim=24, queue=32):
        super().__init__()
        self.image, self.text = ImageTower(out=dim), TextTower(out=dim)
        self.logit_scale = nn.Parameter(torch.tensor(2.6593))
        self.register_buffer("queue", F.normalize(torch.randn(queue, dim), dim=-1))
        self.register_buffer("pointer", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def push(self, keys):
        keys = gather(keys)
        n = keys.shape[0]
        start = int(self.pointer)
        end = start + n
        if end <= self.queue.shape[0]:
            self.queue[start:end] = keys
        else:
            head = self.queue.shape[0] - start
            self.queue[start:] = keys[:head]
            self.queue[: end - self.queue.shape[0]] = keys[head:]
        self.pointer[0] = end % self.queue.shape[0]

    def forward(self, image, input_ids, attention_mask):
        v = F.normalize(self.image(image), dim=-1)
        t = F.normalize(self.text(input_ids, attention_mask), dim=-1)
        scale = self.logit_scale.exp()
        positives = (v * t).sum(dim=-1, keepdim=True)
        negatives = v @ self.queue.clone().detach().t()
        against_queue = torch.cat([positives, negatives], dim=1) * scale
        logits = scale * v @ t.t()
        labels = torch.arange(v.size(0), device=v.device)
        loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2
        loss = loss + F.cross_entropy(against_queue, torch.zeros_like(labels))
        self.push(t)
        return loss


def main():
    torch.manual_seed(0)
    loader = DataLoader(Pairs(), batch_size=5, shuffle=True, drop_last=True)
    model = Contrastive()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    for batch in loader:
        loss = model(**batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
