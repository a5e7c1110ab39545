# torch.nn.Transformer for translation, batches first, label smoothing.
import torch
import torch.nn as nn


class Seq2Seq(nn.Module):
    def __init__(self, vocab=16000, d=256):
        super().__init__()
        self.src, self.tgt = nn.Embedding(vocab, d), nn.Embedding(vocab, d)
        self.pos = nn.Parameter(torch.zeros(1, 128, d))
        self.core = nn.Transformer(d, 4, 3, 3, 1024, dropout=0.1, batch_first=True)
        self.out = nn.Linear(d, vocab)

    def forward(self, s, t):
        mask = nn.Transformer.generate_square_subsequent_mask(t.size(1), device=t.device)
        y = self.core(self.src(s) + self.pos[:, :s.size(1)], self.tgt(t) + self.pos[:, :t.size(1)], tgt_mask=mask)
        return self.out(y)


model = Seq2Seq().cuda()
optim = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98))
loss_fn = nn.CrossEntropyLoss(ignore_index=0, label_smoothing=0.1)
s, t = torch.randint(1, 16000, (32, 96), device="cuda"), torch.randint(1, 16000, (32, 65), device="cuda")
for step in range(3):
    logits = model(s, t[:, :-1])
    loss = loss_fn(logits.reshape(-1, 16000), t[:, 1:].reshape(-1))
    optim.zero_grad()
    loss.backward()
    optim.step()
