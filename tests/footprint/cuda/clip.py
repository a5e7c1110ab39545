# An image and a text encoder with one contrastive loss, float16 autocast, a GradScaler and a causal mask.
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
import torchvision


class TextEncoder(nn.Module):
    def __init__(self, vocab=49408, width=512, layers=4, heads=8, length=77, out=256):
        super().__init__()
        self.token = nn.Embedding(vocab, width)
        self.position = nn.Parameter(torch.randn(length, width) * 0.01)
        self.blocks = nn.ModuleList()
        for _ in range(layers):
            self.blocks.append(nn.ModuleDict({
                "ln1": nn.LayerNorm(width), "attn": nn.MultiheadAttention(width, heads, batch_first=True),
                "ln2": nn.LayerNorm(width), "fc": nn.Linear(width, 4 * width), "proj": nn.Linear(4 * width, width)}))
        self.ln = nn.LayerNorm(width)
        self.out = nn.Linear(width, out, bias=False)
        self.register_buffer("mask", torch.full((length, length), float("-inf")).triu(1))

    def forward(self, text):
        x = self.token(text) + self.position
        for b in self.blocks:
            h = b["ln1"](x)
            x = x + b["attn"](h, h, h, need_weights=False, attn_mask=self.mask)[0]
            x = x + b["proj"](F.gelu(b["fc"](b["ln2"](x))))
        x = self.ln(x)
        return self.out(x[torch.arange(x.shape[0]), text.argmax(dim=-1)])


class CLIP(nn.Module):
    def __init__(self):
        super().__init__()
        self.visual = torchvision.models.resnet18(num_classes=256)
        self.text = TextEncoder()
        self.scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def forward(self, image, text):
        i = F.normalize(self.visual(image), dim=-1)
        t = F.normalize(self.text(text), dim=-1)
        return self.scale.exp() * i @ t.t()


model = CLIP().cuda()
opt = torch.optim.AdamW(model.parameters(), 5e-4, weight_decay=0.2)
scaler = torch.cuda.amp.GradScaler()
image = torch.randn(64, 3, 224, 224).cuda()
text = torch.randint(0, 49408, (64, 77)).cuda()
target = torch.arange(64).cuda()
for step in range(3):
    opt.zero_grad()
    with torch.cuda.amp.autocast():
        logits = model(image, text)
        loss = (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)) / 2
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
