"""Translation with torch.nn.Transformer: masks, positional encoding, a training step and greedy decoding."""
import math
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Options:
    src_vocab: int = 37
    tgt_vocab: int = 41
    d_model: int = 32
    nhead: int = 4
    layers: int = 2
    ffn: int = 64
    dropout: float = 0.1
    max_len: int = 50
    pad: int = 0


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout, max_len):
        super().__init__()
        den = torch.exp(-torch.arange(0, d_model, 2) * math.log(10000) / d_model)
        pos = torch.arange(0, max_len).reshape(max_len, 1)
        table = torch.zeros((max_len, d_model))
        table[:, 0::2] = torch.sin(pos * den)
        table[:, 1::2] = torch.cos(pos * den)
        table = table.unsqueeze(0)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("table", table)

    def forward(self, x):
        return self.dropout(x + self.table[:, :x.size(1)])


class Translator(nn.Module):
    def __init__(self, opt: Options):
        super().__init__()
        self.opt = opt
        self.src_emb = nn.Embedding(opt.src_vocab, opt.d_model, padding_idx=opt.pad)
        self.tgt_emb = nn.Embedding(opt.tgt_vocab, opt.d_model, padding_idx=opt.pad)
        self.positional = PositionalEncoding(opt.d_model, opt.dropout, opt.max_len)
        self.transformer = nn.Transformer(
            d_model=opt.d_model, nhead=opt.nhead, num_encoder_layers=opt.layers, num_decoder_layers=opt.layers,
            dim_feedforward=opt.ffn, dropout=opt.dropout, batch_first=True)
        self.generator = nn.Linear(opt.d_model, opt.tgt_vocab)

    def encode(self, src, pad_mask):
        emb = self.positional(self.src_emb(src) * math.sqrt(self.opt.d_model))
        return self.transformer.encoder(emb, src_key_padding_mask=pad_mask)

    def decode(self, tgt, memory, tgt_mask):
        emb = self.positional(self.tgt_emb(tgt) * math.sqrt(self.opt.d_model))
        return self.transformer.decoder(emb, memory, tgt_mask)

    def forward(self, src, tgt):
        src_pad = src == self.opt.pad
        tgt_pad = tgt == self.opt.pad
        causal = causal_mask(src.size(1))
        src_emb = self.positional(self.src_emb(src) * math.sqrt(self.opt.d_model))
        tgt_emb = self.positional(self.tgt_emb(tgt) * math.sqrt(self.opt.d_model))
        out = self.transformer(
            src_emb, tgt_emb, tgt_mask=causal, src_key_padding_mask=src_pad,
            tgt_key_padding_mask=tgt_pad, memory_key_padding_mask=src_pad)
        return self.generator(out)


def causal_mask(size):
    return torch.triu(torch.ones(size, size, dtype=torch.bool), diagonal=1)


def greedy(model, src, steps=5):
    model.eval()
    with torch.no_grad():
        pad = src == model.opt.pad
        memory = model.encode(src, pad)
        ys = torch.ones(src.size(0), 1, dtype=torch.long)
        for _ in range(steps):
            out = model.decode(ys, memory, causal_mask(ys.size(1)))
            prob = model.generator(out[:, -1])
            next_word = prob.argmax(dim=1, keepdim=True)
            ys = torch.cat([ys, next_word], dim=1)
    model.train()
    return ys


def main():
    torch.manual_seed(0)
    opt = Options()
    model = Translator(opt)
    loss_fn = nn.CrossEntropyLoss(ignore_index=opt.pad)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
    src = torch.randint(1, opt.src_vocab, (3, 11))
    tgt = torch.randint(1, opt.tgt_vocab, (3, 9))
    tgt_input = tgt[:, :-1]
    tgt_out = tgt[:, 1:]
    logits = model(src, tgt_input)
    loss = loss_fn(logits.reshape(-1, logits.shape[-1]), tgt_out.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    translated = greedy(model, src)
    print(loss.item(), translated.shape)


if __name__ == "__main__":
    main()
