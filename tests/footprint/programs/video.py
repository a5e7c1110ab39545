import torch
from torch import nn


class R3D(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv3d(3, 16, (3, 7, 7), (1, 2, 2), (1, 3, 3), bias=False), nn.BatchNorm3d(16), nn.ReLU(inplace=True), nn.MaxPool3d((1, 3, 3), (1, 2, 2), (0, 1, 1)))
        self.s = nn.Conv3d(16, 24, (1, 3, 3), padding=(0, 1, 1), bias=False)
        self.t = nn.Conv3d(24, 16, (3, 1, 1), padding=(1, 0, 0))
        self.bn = nn.InstanceNorm3d(16, affine=True, track_running_stats=True)
        self.pool = nn.AdaptiveAvgPool3d((1, 2, 2))
        self.head = nn.Linear(64, 5)

    def forward(self, v):
        x = self.stem(v)
        x = torch.relu_(self.bn(self.t(self.s(x))) + x)
        return self.head(self.pool(x).flatten(1))


model = R3D()
opt = torch.optim.SGD(model.parameters(), lr=.1, momentum=.9, nesterov=True)
clip = torch.rand(2, 3, 4, 32, 32)
loss = nn.MultiMarginLoss()(model(clip), torch.tensor([1, 4]))
loss.backward()
opt.step()
