# SimCLR: two views per image, NT-Xent over 2N projections.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class TwoViews(Dataset):
    def __init__(self, images):
        self.images = images

    def __len__(self):
        return self.images.size(0)

    def augment(self, image):
        if torch.rand(()) < 0.5:
            image = image.flip(-1)
        scale = 0.8 + 0.4 * torch.rand(3, 1, 1)
        return (image * scale + 0.05 * torch.randn_like(image)).clamp(0, 1)

    def __getitem__(self, index):
        image = self.images[index]
        return self.augment(image), self.augment(image)


class SimCLR(nn.Module):
    def __init__(self, out_dim=16, width=24):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, width, 3, 2, 1), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, 2, 1), nn.BatchNorm2d(2 * width), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        )
        self.projector = nn.Sequential(nn.Linear(2 * width, 2 * width), nn.ReLU(), nn.Linear(2 * width, out_dim))

    def forward(self, x):
        h = self.backbone(x)
        z = self.projector(h)
        return h, z


def info_nce(features, temperature=0.5):
    batch = features.shape[0]
    labels = torch.cat([torch.arange(batch) for _ in range(2)], dim=0)
    labels = (labels.unsqueeze(0) == labels.unsqueeze(1)).float()
    features = F.normalize(features, dim=1)
    similarity = features @ features.T
    assert similarity.shape == labels.shape

    mask = torch.eye(labels.shape[0], dtype=torch.bool)
    labels = labels[~mask].view(labels.shape[0], -1)
    similarity = similarity[~mask].view(similarity.shape[0], -1)
    positives = similarity[labels.bool()].view(labels.shape[0], -1)
    negatives = similarity[~labels.bool()].view(similarity.shape[0], -1)
    logits = torch.cat([positives, negatives], dim=1)
    targets = torch.zeros(logits.shape[0], dtype=torch.long)
    return F.cross_entropy(logits / temperature, targets)


def main():
    torch.manual_seed(0)
    loader = DataLoader(TwoViews(torch.rand(16, 3, 32, 32)), batch_size=8, shuffle=True, drop_last=True)
    model = SimCLR()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(2):
        for first, second in loader:
            views = torch.cat([first, second], dim=0)
            _, z = model(views)
            loss = info_nce(z)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
