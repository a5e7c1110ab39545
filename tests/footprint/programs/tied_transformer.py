# One embedding for encoder, decoder and scores; a wrapper that sets the rate of its optimizer.
import torch
import torch.nn as nn
import torch.nn.functional as F


class TiedTransformer(nn.Module):
    """An encoder and a decoder that share one embedding, and a head tied to it."""

    def __init__(self, vocab=320, d=48, heads=4, layers=2):
        super().__init__()
        self.shared = nn.Embedding(vocab, d)
        self.register_buffer("scale", torch.tensor(d ** 0.5))
        enc = nn.TransformerEncoderLayer(d, heads, 4 * d, dropout=0.1, batch_first=True)
        dec = nn.TransformerDecoderLayer(d, heads, 4 * d, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(enc, layers)
        self.decoder = nn.TransformerDecoder(dec, layers)
        self.lm_head = nn.Linear(d, vocab, bias=False)
        self.lm_head.weight = self.shared.weight

    def forward(self, src, tgt):
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1))
        memory = self.encoder(self.shared(src) * self.scale)
        out = self.decoder(self.shared(tgt) * self.scale, memory, tgt_mask=mask, tgt_is_causal=True)
        return self.lm_head(out)


class NoamOpt:
    def __init__(self, model_size, factor, warmup, optimizer):
        self.optimizer, self._step, self.warmup, self.factor, self.model_size = optimizer, 0, warmup, factor, model_size

    def step(self):
        self._step += 1
        rate = self.factor * (self.model_size ** -0.5 * min(self._step ** -0.5, self._step * self.warmup ** -1.5))
        for p in self.optimizer.param_groups:
            p["lr"] = rate
        self.optimizer.step()

    def zero_grad(self):
        self.optimizer.zero_grad()


class LabelSmoothing(nn.Module):
    def __init__(self, size, padding_idx, smoothing=0.1):
        super().__init__()
        self.criterion = nn.KLDivLoss(reduction="sum")
        self.padding_idx, self.confidence, self.smoothing, self.size = padding_idx, 1.0 - smoothing, smoothing, size

    def forward(self, x, target):
        true_dist = x.data.clone()
        true_dist.fill_(self.smoothing / (self.size - 2))
        true_dist.scatter_(1, target.data.unsqueeze(1), self.confidence)
        true_dist[:, self.padding_idx] = 0
        return self.criterion(x, true_dist)


model = TiedTransformer()
for p in model.parameters():
    if p.dim() > 1:
        nn.init.xavier_uniform_(p)
opt = NoamOpt(48, 1, 400, torch.optim.Adam(model.parameters(), lr=0, betas=(0.9, 0.98), eps=1e-9))
criterion = LabelSmoothing(320, 0)
for step in range(2):
    src, tgt = torch.randint(1, 320, (4, 13)), torch.randint(1, 320, (4, 11))
    logits = model(src, tgt[:, :-1])
    loss = criterion(F.log_softmax(logits.contiguous().view(-1, 320), dim=-1), tgt[:, 1:].contiguous().view(-1)) / 40
    loss.backward()
    opt.step()
    opt.zero_grad()
