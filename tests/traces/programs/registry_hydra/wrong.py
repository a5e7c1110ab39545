"""Models built from nested config dictionaries through a registry; blocks found by name; losses and metrics likewise."""
import copy
import functools
from collections import defaultdict

import torch
from torch import nn


class Registry:
    def __init__(self, name):
        self.name, self._items = name, {}

    def register(self, name=None):
        def wrap(obj):
            self._items[name or obj.__name__] = obj
            return obj
        return wrap

    def build(self, cfg, **extra):
        cfg = copy.deepcopy(cfg)
        kind = cfg.pop("type")
        if kind not in self._items:
            raise KeyError(f"{kind} is not in {self.name}")
        return self._items[kind](**cfg, **extra)


BACKBONES, NECKS, HEADS = Registry("backbones"), Registry("necks"), Registry("heads")


@BACKBONES.register()
class PlainNet(nn.Module):
    arch = {10: (1, 1, 1), 18: (2, 2, 2)}

    def __init__(self, depth, in_channels=3, base_channels=8, out_indices=(0, 1, 2), norm_cfg=None):
        super().__init__()
        make_norm = functools.partial(nn.GroupNorm, norm_cfg["groups"]) if norm_cfg else nn.BatchNorm2d
        self.out_indices = out_indices
        self.stage_names = []
        channels = in_channels
        for i, blocks in enumerate(self.arch[depth]):
            width = base_channels * 2 ** i
            layers = []
            for j in range(blocks):
                layers += [nn.Conv2d(channels if j == 0 else width, width, 3, stride=2 if j == 0 else 1, padding=1), make_norm(width), nn.ReLU(inplace=True)]
            channels = width
            name = f"layer{i + 1}"
            self.add_module(name, nn.Sequential(*layers))
            self.stage_names.append(name)
        self.out_channels = [base_channels * 2 ** i for i in out_indices]

    def forward(self, x):
        outs = []
        for i, name in enumerate(self.stage_names):
            x = getattr(self, name)(x)
            if i in self.out_indices:
                outs.append(x)
        return tuple(outs)


@NECKS.register("sum_fpn")
class SumFPN(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(c, out_channels, 1) for c in in_channels)

    def forward(self, inputs):
        assert len(inputs) == len(self.convs)
        size = inputs[0].shape[2:]
        ups = [nn.functional.interpolate(conv(x), size=size, mode="bilinear", align_corners=False) for conv, x in zip(self.convs, inputs)]
        return functools.reduce(torch.add, ups)


@HEADS.register()
class SegHead(nn.Module):
    def __init__(self, in_channels, num_classes, loss=dict(type="ce", weight=1.0)):
        super().__init__()
        self.conv_seg = nn.Conv2d(in_channels, num_classes, 1)
        self.loss_cfg = loss

    def forward(self, x):
        return self.conv_seg(x)

    def loss(self, logits, target):
        logits = nn.functional.interpolate(logits, size=target.shape[-2:], mode="bilinear", align_corners=False)
        return {"loss_seg": self.loss_cfg["weight"] * nn.functional.cross_entropy(logits, target, ignore_index=255), "acc": (logits.argmax(1) == target).float().mean()}


class Segmentor(nn.Module):
    def __init__(self, backbone, neck, head):
        super().__init__()
        self.backbone = BACKBONES.build(backbone)
        self.neck = NECKS.build(neck, in_channels=self.backbone.out_channels)
        self.head = HEADS.build(head)

    def forward(self, img, target=None):
        x = self.head(self.neck(self.backbone(img)))
        return x if target is None else self.head.loss(x, target)


cfg = dict(
    model=dict(
        backbone=dict(type="PlainNet", depth=18, norm_cfg=dict(groups=4), in_channels=1),
        neck=dict(type="sum_fpn", out_channels=16),
        head=dict(type="SegHead", in_channels=16, num_classes=5),
    ),
    optimizer=dict(type="SGD", lr=0.01),
)

if __name__ == "__main__":
    torch.manual_seed(0)
    model = Segmentor(**cfg["model"])
    opt_cfg = dict(cfg["optimizer"])
    optimizer = getattr(torch.optim, opt_cfg.pop("type"))(model.parameters(), **opt_cfg)
    log = defaultdict(list)
    for step in range(2):
        img, target = torch.randn(2, 3, 32, 48), torch.randint(0, 5, (2, 32, 48))
        losses = model(img, target)
        total = sum(v for k, v in losses.items() if "loss" in k)
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        for k, v in losses.items():
            log[k].append(v.item())
    print(dict(log))
