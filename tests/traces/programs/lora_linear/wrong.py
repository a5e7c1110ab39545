"""LoRA by hand: a frozen linear layer with a low-rank update, merged after training."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class LoRALinear(nn.Linear):
    def __init__(self, in_features, out_features, r=4, lora_alpha=8, lora_dropout=0.0, **kwargs):
        nn.Linear.__init__(self, in_features, out_features, **kwargs)
        self.r = r
        self.lora_alpha = lora_alpha
        self.lora_dropout = nn.Dropout(p=lora_dropout)
        self.merged = False
        if r > 0:
            self.lora_A = nn.Parameter(self.weight.new_zeros((r, in_features)))
            self.lora_B = nn.Parameter(self.weight.new_zeros((out_features, r)))
            self.scaling = self.lora_alpha / self.r
            self.weight.requires_grad = False
        self.reset_lora()

    def reset_lora(self):
        if hasattr(self, "lora_A"):
            nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
            nn.init.zeros_(self.lora_B)

    def merge(self):
        if self.r > 0 and not self.merged:
            delta = self.lora_A @ self.lora_B
            self.weight.data += delta * self.scaling
            self.merged = True

    def forward(self, x):
        if self.r > 0 and not self.merged:
            result = F.linear(x, self.weight, bias=self.bias)
            update = self.lora_dropout(x) @ self.lora_A.transpose(0, 1) @ self.lora_B.transpose(0, 1)
            result = result + update * self.scaling
            return result
        return F.linear(x, self.weight, bias=self.bias)


class Classifier(nn.Module):
    def __init__(self, n_features, n_hidden, n_classes, rank):
        super().__init__()
        self.up = LoRALinear(n_features, n_hidden, r=rank, lora_dropout=0.1)
        self.act = nn.ReLU()
        self.down = LoRALinear(n_hidden, n_classes, r=rank)

    def forward(self, x):
        h = self.act(self.up(x))
        return self.down(h)


def mark_only_lora_as_trainable(model):
    for name, param in model.named_parameters():
        param.requires_grad = "lora_" in name


def main():
    torch.manual_seed(0)
    model = Classifier(20, 32, 6, rank=4)
    mark_only_lora_as_trainable(model)
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trainable, lr=1e-2)
    x = torch.randn(10, 20)
    y = torch.randint(0, 6, (10,))
    for _ in range(3):
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    model.eval()
    with torch.no_grad():
        before = model(x)
        model.up.merge()
        model.down.merge()
        after = model(x)
        difference = (before - after).abs().max()
    print(loss.item(), difference.item())


if __name__ == "__main__":
    main()
