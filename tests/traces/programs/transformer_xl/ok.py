"""Transformer-XL: segment recurrence with memories and relative positions."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class PositionalEmbedding(nn.Module):
    def __init__(self, demb):
        super().__init__()
        inv_freq = 1 / (10000 ** (torch.arange(0.0, demb, 2.0) / demb))
        self.register_buffer("inv_freq", inv_freq)

    def forward(self, pos_seq, bsz=None):
        sinusoid = torch.ger(pos_seq, self.inv_freq)
        pos_emb = torch.cat([sinusoid.sin(), sinusoid.cos()], dim=-1)
        return pos_emb[:, None, :] if bsz is None else pos_emb[:, None, :].expand(-1, bsz, -1)


class RelAttention(nn.Module):
    def __init__(self, n_head, d_model, d_head):
        super().__init__()
        self.n_head, self.d_head = n_head, d_head
        self.qkv_net = nn.Linear(d_model, 3 * n_head * d_head, bias=False)
        self.o_net = nn.Linear(n_head * d_head, d_model, bias=False)
        self.r_net = nn.Linear(d_model, n_head * d_head, bias=False)
        self.layer_norm = nn.LayerNorm(d_model)
        self.scale = 1 / (d_head ** 0.5)

    def _rel_shift(self, x):
        zero_pad = torch.zeros((x.size(0), 1, *x.size()[2:]), device=x.device, dtype=x.dtype)
        x_padded = torch.cat([zero_pad, x], dim=1)
        x_padded = x_padded.view(x.size(1) + 1, x.size(0), *x.size()[2:])
        return x_padded[1:].view_as(x)

    def forward(self, w, r, r_w_bias, r_r_bias, attn_mask=None, mems=None):
        qlen, rlen, bsz = w.size(0), r.size(0), w.size(1)
        cat = torch.cat([mems, w], 0) if mems is not None else w
        w_heads = self.qkv_net(cat)
        r_head_k = self.r_net(r)
        w_head_q, w_head_k, w_head_v = torch.chunk(w_heads, 3, dim=-1)
        w_head_q = w_head_q[-qlen:]
        klen = w_head_k.size(0)
        w_head_q = w_head_q.view(qlen, bsz, self.n_head, self.d_head)
        w_head_k = w_head_k.view(klen, bsz, self.n_head, self.d_head)
        w_head_v = w_head_v.view(klen, bsz, self.n_head, self.d_head)
        r_head_k = r_head_k.view(rlen, self.n_head, self.d_head)
        AC = torch.einsum("ibnd,jbnd->ijbn", w_head_q + r_w_bias, w_head_k)
        BD = torch.einsum("ibnd,jnd->ijbn", w_head_q + r_r_bias, r_head_k)
        BD = self._rel_shift(BD)
        attn_score = (AC + BD) * self.scale
        if attn_mask is not None:
            attn_score = attn_score.float().masked_fill(attn_mask[:, :, :, None], -float("inf"))
        attn_prob = F.softmax(attn_score, dim=1)
        attn_vec = torch.einsum("ijbn,jbnd->ibnd", attn_prob, w_head_v)
        attn_vec = attn_vec.contiguous().view(attn_vec.size(0), attn_vec.size(1), self.n_head * self.d_head)
        return self.layer_norm(w + self.o_net(attn_vec))


class Layer(nn.Module):
    def __init__(self, n_head, d_model, d_head, d_inner):
        super().__init__()
        self.attn = RelAttention(n_head, d_model, d_head)
        self.ff = nn.Sequential(nn.Linear(d_model, d_inner), nn.ReLU(inplace=True), nn.Linear(d_inner, d_model))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, r, u, v, mask=None, mems=None):
        out = self.attn(x, r, u, v, attn_mask=mask, mems=mems)
        return self.norm(out + self.ff(out))


class TransformerXL(nn.Module):
    def __init__(self, n_token=30, n_layer=2, n_head=4, d_model=32, d_head=8, d_inner=64, mem_len=6):
        super().__init__()
        self.mem_len, self.n_layer, self.d_model = mem_len, n_layer, d_model
        self.word_emb = nn.Embedding(n_token, d_model)
        self.pos_emb = PositionalEmbedding(d_model)
        self.r_w_bias = nn.Parameter(torch.zeros(n_head, d_head))
        self.r_r_bias = nn.Parameter(torch.zeros(n_head, d_head))
        self.layers = nn.ModuleList([Layer(n_head, d_model, d_head, d_inner) for _ in range(n_layer)])
        self.out = nn.Linear(d_model, n_token)

    def init_mems(self, bsz):
        return [torch.zeros(0, bsz, self.d_model) for _ in range(self.n_layer + 1)]

    def _update_mems(self, hids, mems, qlen, mlen):
        with torch.no_grad():
            new_mems = []
            end_idx = mlen + max(0, qlen)
            beg_idx = max(0, end_idx - self.mem_len)
            for i in range(len(hids)):
                cat = torch.cat([mems[i], hids[i]], dim=0)
                new_mems.append(cat[beg_idx:end_idx].detach())
        return new_mems

    def forward(self, data, target, mems=None):
        qlen, bsz = data.size()
        if mems is None:
            mems = self.init_mems(bsz)
        mlen = mems[0].size(0)
        klen = mlen + qlen
        word_emb = self.word_emb(data)
        mask = torch.triu(word_emb.new_ones(qlen, klen), diagonal=1 + mlen).bool()[:, :, None]
        hids = []
        pos_seq = torch.arange(klen - 1, -1, -1.0)
        pos_emb = self.pos_emb(pos_seq)
        core = word_emb
        hids.append(core)
        for i, layer in enumerate(self.layers):
            core = layer(core, pos_emb.squeeze(1), self.r_w_bias, self.r_r_bias, mask=mask, mems=mems[i])
            hids.append(core)
        new_mems = self._update_mems(hids, mems, qlen, mlen)
        logits = self.out(core)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), target.reshape(-1))
        return loss, new_mems


if __name__ == "__main__":
    torch.manual_seed(0)
    model = TransformerXL()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    stream = torch.randint(0, 30, (17, 2))
    mems = None
    for i in range(0, stream.size(0) - 1, 8):
        data, target = stream[i:i + 8], stream[i + 1:i + 9]
        loss, mems = model(data, target, mems)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item(), len(mems))
