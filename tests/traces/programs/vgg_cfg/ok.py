"""VGG built from a table of widths; "M" stands for a pooling layer."""
import argparse

import torch
import torch.nn as nn

cfgs = {
    "tiny": [8, "M", 16, "M", 32, 32, "M"],
    "small": [8, 8, "M", 16, 16, "M", 32, "M", 32, "M"],
    "wide": [16, "M", 32, "M", 64, 64, "M", 64, "M"],
}


def make_layers(cfg, batch_norm=False):
    layers = []
    in_channels = 3
    for v in cfg:
        if v == "M":
            layers += [nn.MaxPool2d(kernel_size=2, stride=2)]
        else:
            conv2d = nn.Conv2d(in_channels, v, kernel_size=3, padding=1)
            if batch_norm:
                layers += [conv2d, nn.BatchNorm2d(v), nn.ReLU(inplace=True)]
            else:
                layers += [conv2d, nn.ReLU(inplace=True)]
            in_channels = v
    return nn.Sequential(*layers)


class VGG(nn.Module):
    def __init__(self, features, last, num_classes=10, init_weights=True):
        super().__init__()
        self.features = features
        self.classifier = nn.Sequential(
            nn.Linear(last * 2 * 2, 64),
            nn.ReLU(True),
            nn.Dropout(),
            nn.Linear(64, num_classes),
        )
        if init_weights:
            self._initialize_weights()

    def _initialize_weights(self):
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
                if m.bias is not None:
                    nn.init.constant_(m.bias, 0)
            elif isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, 0, 0.01)
                nn.init.constant_(m.bias, 0)

    def forward(self, x):
        x = self.features(x)
        x = torch.flatten(x, start_dim=1)
        x = self.classifier(x)
        return x


def vgg(name, **kwargs):
    cfg = cfgs[name]
    last = [v for v in cfg if v != "M"][-1]
    return VGG(make_layers(cfg, batch_norm=True), last, **kwargs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--arch", default="small", choices=sorted(cfgs))
    parser.add_argument("--size", default=32, type=int)
    parser.add_argument("--batch", default=3, type=int)
    opt = parser.parse_args()

    torch.manual_seed(0)
    model = vgg(opt.arch, num_classes=5)
    model.eval()
    x = torch.rand(opt.batch, 3, opt.size, opt.size)
    maps = model.features(x)
    with torch.no_grad():
        y = model(x)
    p = torch.softmax(y, dim=-1)
    print(opt.arch, tuple(maps.shape), tuple(p.shape))


if __name__ == "__main__":
    main()
