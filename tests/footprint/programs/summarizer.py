import torch
from torch import nn
import torch.nn.functional as F


class Seq2Seq(nn.Module):
    def __init__(self, vocab=200, d=48):
        super().__init__()
        self.src = nn.Embedding(vocab, d)
        self.tgt = nn.Embedding(vocab, d)
        self.core = nn.Transformer(d, nhead=6, num_encoder_layers=2, num_decoder_layers=3, dim_feedforward=96, dropout=0.1, batch_first=True)
        self.out = nn.Linear(d, vocab)

    def forward(self, s, t):
        mask = nn.Transformer.generate_square_subsequent_mask(t.size(1))
        h = self.core(self.src(s), self.tgt(t), tgt_mask=mask)
        return self.out(h)


model = Seq2Seq()
optimizer = torch.optim.NAdam(model.parameters(), lr=1e-3)
s = torch.randint(0, 200, (7, 13))
t = torch.randint(0, 200, (7, 11))
logits = model(s, t[:, :-1])
loss = F.cross_entropy(logits.reshape(-1, 200), t[:, 1:].reshape(-1), label_smoothing=0.1)
loss.backward()
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
optimizer.step()
