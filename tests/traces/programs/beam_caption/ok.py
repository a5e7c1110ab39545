"""Image captioning: a CNN encoder, an LSTM decoder with attention, trained with teacher forcing and decoded by beam search."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence


class Encoder(nn.Module):
    def __init__(self, encoded_size=4, dim=24):
        super().__init__()
        self.cnn = nn.Sequential(nn.Conv2d(3, 12, 3, 2, 1), nn.ReLU(), nn.Conv2d(12, dim, 3, 2, 1), nn.ReLU())
        self.pool = nn.AdaptiveAvgPool2d((encoded_size, encoded_size))

    def forward(self, images):
        return self.pool(self.cnn(images)).permute(0, 2, 3, 1)


class Attention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, attention_dim):
        super().__init__()
        self.encoder_att = nn.Linear(encoder_dim, attention_dim)
        self.decoder_att = nn.Linear(decoder_dim, attention_dim)
        self.full_att = nn.Linear(attention_dim, 1)

    def forward(self, encoder_out, decoder_hidden):
        att1 = self.encoder_att(encoder_out)
        att2 = self.decoder_att(decoder_hidden)
        att = self.full_att(F.relu(att1 + att2.unsqueeze(1))).squeeze(2)
        alpha = att.softmax(dim=1)
        return (encoder_out * alpha.unsqueeze(2)).sum(dim=1), alpha


class Decoder(nn.Module):
    def __init__(self, attention_dim, embed_dim, decoder_dim, vocab_size, encoder_dim=24, dropout=0.5):
        super().__init__()
        self.vocab_size = vocab_size
        self.attention = Attention(encoder_dim, decoder_dim, attention_dim)
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.dropout = nn.Dropout(p=dropout)
        self.decode_step = nn.LSTMCell(embed_dim + encoder_dim, decoder_dim, bias=True)
        self.init_h = nn.Linear(encoder_dim, decoder_dim)
        self.init_c = nn.Linear(encoder_dim, decoder_dim)
        self.f_beta = nn.Linear(decoder_dim, encoder_dim)
        self.fc = nn.Linear(decoder_dim, vocab_size)

    def init_hidden_state(self, encoder_out):
        mean = encoder_out.mean(dim=1)
        return self.init_h(mean), self.init_c(mean)

    def forward(self, encoder_out, captions, lengths):
        batch_size, encoder_dim = encoder_out.size(0), encoder_out.size(-1)
        encoder_out = encoder_out.view(batch_size, -1, encoder_dim)
        num_pixels = encoder_out.size(1)
        lengths, order = lengths.squeeze(1).sort(dim=0, descending=True)
        encoder_out, captions = encoder_out[order], captions[order]
        embeddings = self.embedding(captions)
        h, c = self.init_hidden_state(encoder_out)
        decode_lengths = (lengths - 1).tolist()
        predictions = torch.zeros(batch_size, max(decode_lengths), self.vocab_size)
        alphas = torch.zeros(batch_size, max(decode_lengths), num_pixels)
        for t in range(max(decode_lengths)):
            bt = sum([l > t for l in decode_lengths])
            context, alpha = self.attention(encoder_out[:bt], h[:bt])
            gate = torch.sigmoid(self.f_beta(h[:bt]))
            h, c = self.decode_step(torch.cat([embeddings[:bt, t, :], gate * context], dim=1), (h[:bt], c[:bt]))
            predictions[:bt, t, :] = self.fc(self.dropout(h))
            alphas[:bt, t, :] = alpha
        return predictions, captions, decode_lengths, alphas

    @torch.no_grad()
    def beam(self, encoder_out, start, end, k=3, steps=6):
        encoder_dim = encoder_out.size(3)
        encoder_out = encoder_out.view(1, -1, encoder_dim)
        num_pixels = encoder_out.size(1)
        encoder_out = encoder_out.expand(k, num_pixels, encoder_dim)
        words = torch.full((k, 1), start, dtype=torch.long)
        seqs, top_scores = words, torch.zeros(k, 1)
        h, c = self.init_hidden_state(encoder_out)
        for step in range(1, steps + 1):
            emb = self.embedding(words).squeeze(1)
            context, _ = self.attention(encoder_out, h)
            h, c = self.decode_step(torch.cat([emb, torch.sigmoid(self.f_beta(h)) * context], dim=1), (h, c))
            scores = F.log_softmax(self.fc(h), dim=1)
            scores = top_scores.expand_as(scores) + scores
            flat = scores[0] if step == 1 else scores.view(-1)
            top, which = flat.topk(k, 0, True, True)
            prev, nxt = torch.div(which, self.vocab_size, rounding_mode="floor"), which % self.vocab_size
            seqs = torch.cat([seqs[prev], nxt.unsqueeze(1)], dim=1)
            h, c = h[prev], c[prev]
            top_scores, words = top.unsqueeze(1), nxt.unsqueeze(1)
        return seqs[top_scores.squeeze(1).argmax()]


def main():
    torch.manual_seed(0)
    encoder, decoder = Encoder(), Decoder(16, 12, 20, vocab_size=30)
    optimizer = torch.optim.Adam(list(encoder.parameters()) + list(decoder.parameters()), lr=4e-4)
    images, captions = torch.randn(4, 3, 32, 32), torch.randint(1, 30, (4, 9))
    lengths = torch.tensor([[9], [7], [8], [5]])
    for _ in range(2):
        scores, sorted_captions, decode_lengths, alphas = decoder(encoder(images), captions, lengths)
        targets = sorted_captions[:, 1:]
        packed = pack_padded_sequence(scores, decode_lengths, batch_first=True).data
        wanted = pack_padded_sequence(targets, decode_lengths, batch_first=True).data
        loss = F.cross_entropy(packed, wanted) + ((1.0 - alphas.sum(dim=1)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    decoder.eval()
    print(loss.item(), decoder.beam(encoder(images[:1]), 1, 2).tolist())


if __name__ == "__main__":
    main()
