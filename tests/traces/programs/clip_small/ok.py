"""Contrastive language-image pre-training, in miniature."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class CLIPConfig:
    embed_dim: int = 32
    image_size: int = 32
    vision_patch: int = 8
    vision_width: int = 48
    text_vocab: int = 70
    text_context: int = 12
    text_width: int = 40
    heads: int = 4
    layers: int = 2


class ResidualAttentionBlock(nn.Module):
    def __init__(self, d_model: int, n_head: int, attn_mask: Tensor = None):
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, n_head)
        self.ln_1 = nn.LayerNorm(d_model)
        self.mlp = nn.Sequential(nn.Linear(d_model, d_model * 4), nn.GELU(), nn.Linear(d_model * 4, d_model))
        self.ln_2 = nn.LayerNorm(d_model)
        self.attn_mask = attn_mask

    def attention(self, x: Tensor) -> Tensor:
        return self.attn(x, x, x, need_weights=False, attn_mask=self.attn_mask)[0]

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.ln_1(x))
        x = x + self.mlp(self.ln_2(x))
        return x


class Vision(nn.Module):
    def __init__(self, config: CLIPConfig):
        super().__init__()
        width = config.vision_width
        grid = config.image_size // config.vision_patch
        self.conv1 = nn.Conv2d(3, width, config.vision_patch, config.vision_patch, bias=False)
        self.class_embedding = nn.Parameter(width ** -0.5 * torch.randn(width))
        self.positional_embedding = nn.Parameter(width ** -0.5 * torch.randn(grid ** 2 + 1, width))
        self.blocks = nn.Sequential(*[ResidualAttentionBlock(width, config.heads) for _ in range(config.layers)])
        self.ln_post = nn.LayerNorm(width)
        self.proj = nn.Parameter(width ** -0.5 * torch.randn(width, config.embed_dim))

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv1(x)
        x = x.reshape(x.shape[0], x.shape[1], -1)
        x = x.permute(0, 2, 1)
        zeros = torch.zeros(x.shape[0], 1, x.shape[-1], dtype=x.dtype)
        x = torch.cat([self.class_embedding + zeros, x], dim=1)
        x = x + self.positional_embedding
        x = x.permute(1, 0, 2)
        x = self.blocks(x)
        x = x.permute(1, 0, 2)
        x = self.ln_post(x[:, 0, :])
        return x @ self.proj


class CLIP(nn.Module):
    def __init__(self, config: CLIPConfig):
        super().__init__()
        self.context_length = config.text_context
        self.visual = Vision(config)
        self.token_embedding = nn.Embedding(config.text_vocab, config.text_width)
        self.positional_embedding = nn.Parameter(0.01 * torch.randn(config.text_context, config.text_width))
        mask = self.build_attention_mask()
        self.transformer = nn.Sequential(
            *[ResidualAttentionBlock(config.text_width, config.heads, mask) for _ in range(config.layers)])
        self.ln_final = nn.LayerNorm(config.text_width)
        self.text_projection = nn.Parameter(torch.randn(config.text_width, config.embed_dim) * config.text_width ** -0.5)
        self.logit_scale = nn.Parameter(torch.ones([]) * np.log(1 / 0.07))

    def build_attention_mask(self):
        mask = torch.empty(self.context_length, self.context_length)
        mask.fill_(float("-inf"))
        mask.triu_(1)
        return mask

    def encode_text(self, text: Tensor) -> Tensor:
        x = self.token_embedding(text)
        x = x + self.positional_embedding
        x = self.transformer(x.permute(1, 0, 2)).permute(1, 0, 2)
        x = self.ln_final(x)
        x = x[torch.arange(x.shape[0]), text.argmax(dim=-1)] @ self.text_projection
        return x

    def forward(self, image: Tensor, text: Tensor):
        image_features = self.visual(image)
        text_features = self.encode_text(text)
        image_features = image_features / image_features.norm(dim=1, keepdim=True)
        text_features = text_features / text_features.norm(dim=1, keepdim=True)
        logit_scale = self.logit_scale.exp()
        logits_per_image = logit_scale * image_features @ text_features.t()
        logits_per_text = logits_per_image.t()
        return logits_per_image, logits_per_text


def contrastive_loss(per_image: Tensor, per_text: Tensor) -> Tensor:
    labels = torch.arange(per_image.shape[0])
    return (F.cross_entropy(per_image, labels) + F.cross_entropy(per_text, labels)) / 2


if __name__ == "__main__":
    torch.manual_seed(0)
    config = CLIPConfig()
    model = CLIP(config)
    images = torch.rand(5, 3, config.image_size, config.image_size)
    text = torch.randint(1, config.text_vocab, (5, config.text_context))
    per_image, per_text = model(images, text)
    loss = contrastive_loss(per_image, per_text)
    loss.backward()
    print(per_image.shape, loss.item())
