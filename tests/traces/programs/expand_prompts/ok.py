"""Visual prompt tuning: learned prompts are put before the patch tokens of a frozen encoder."""
import math
from collections import namedtuple

import torch
from torch import nn

Sizes = namedtuple("Sizes", "image patch dim depth heads prompts classes")


class FrozenEncoder(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.patch = sizes.patch
        self.embed = nn.Linear(3 * sizes.patch ** 2, sizes.dim)
        layer = nn.TransformerEncoderLayer(sizes.dim, sizes.heads, 2 * sizes.dim, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, sizes.depth)
        for p in self.parameters():
            p.requires_grad = False

    def patchify(self, images):
        n, c, h, w = images.shape
        p = self.patch
        x = images.reshape(n, c, h // p, p, w // p, p)
        x = torch.einsum("nchpwq->nhwpqc", x)
        return x.reshape(n, (h // p) * (w // p), p * p * c)

    def forward(self, images, prompts):
        tokens = self.embed(self.patchify(images))
        sequence = torch.cat([prompts, tokens], dim=1)
        return self.encoder(sequence)


class PromptTuner(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.sizes = sizes
        self.backbone = FrozenEncoder(sizes)
        self.prompts = nn.Parameter(torch.empty(1, sizes.prompts, sizes.dim))
        self.head = nn.Linear(sizes.dim, sizes.classes)
        bound = math.sqrt(6.0 / (3 * sizes.patch ** 2 + sizes.dim))
        nn.init.uniform_(self.prompts, -bound, bound)

    def forward(self, images):
        n = images.shape[0]
        prompts = self.prompts.expand(n, self.sizes.prompts, self.sizes.dim)
        hidden = self.backbone(images, prompts)
        first = hidden[:, :self.sizes.prompts]
        pooled = first.mean(dim=1)
        return self.head(pooled)


def main():
    torch.manual_seed(0)
    sizes = Sizes(image=24, patch=6, dim=32, depth=2, heads=4, prompts=5, classes=3)
    model = PromptTuner(sizes)
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(trainable, lr=0.1, momentum=0.9)
    images = torch.rand(4, 3, sizes.image, sizes.image)
    labels = torch.tensor([0, 1, 2, 1])
    for _ in range(2):
        logits = model(images)
        loss = nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(trainable, 1.0)
        optimizer.step()
    print(len(trainable), loss.item())


if __name__ == "__main__":
    main()
