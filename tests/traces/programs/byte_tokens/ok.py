"""Byte-level classifier: special tokens sit behind the 256 byte values."""
import torch
from torch import nn

BYTES = 256
BOS, EOS, PAD = 256, 257, 258
VOCAB = 259
MAX_LEN = 32


def encode(text: str, length: int = MAX_LEN):
    ids = [BOS, *text.encode("utf-8")[:length - 2], EOS]
    return ids + [PAD] * (length - len(ids))


class ByteModel(nn.Module):
    def __init__(self, dim=24, classes=2):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.pos = nn.Parameter(torch.zeros(MAX_LEN, dim))
        self.mix = nn.Conv1d(dim, dim, 5, padding=2)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, ids):
        x = self.embed(ids) + self.pos
        x = x + self.mix(x.transpose(1, 2)).transpose(1, 2).relu()
        x = self.norm(x)
        start = x[:, 0]
        return self.head(start)


class Trainer:
    def __init__(self, model, lr=1e-3):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.loss_fn = nn.CrossEntropyLoss()
        self.history = []

    def fit(self, texts, labels, epochs=3):
        ids = torch.tensor([encode(t) for t in texts])
        labels = torch.tensor(labels)
        self.model.train()
        for _ in range(epochs):
            logits = self.model(ids)
            loss = self.loss_fn(logits, labels)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.history.append(loss.item())
        return self

    @torch.no_grad()
    def predict(self, text):
        self.model.eval()
        ids = torch.tensor(encode(text)).unsqueeze(0)
        scores = self.model(ids).softmax(-1)
        return scores.squeeze(0)

    def prime(self, count):
        """A batch of empty texts: only the marks."""
        ids = torch.full((count, MAX_LEN), PAD)
        ids[:, 0] = BOS
        ids[:, 1] = EOS
        ends = self.model.embed(torch.tensor([BOS, EOS]))
        return self.model(ids), ends


if __name__ == "__main__":
    torch.manual_seed(0)
    trainer = Trainer(ByteModel())
    trainer.fit(["good", "very good", "bad", "so bad"], [1, 1, 0, 0])
    scores = trainer.predict("not bad")
    logits, ends = trainer.prime(3)
    print(scores, logits.shape, ends.shape)
