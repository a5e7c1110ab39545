import os

import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms


class Photos(Dataset):
    def __init__(self, folder):
        self.files = sorted(os.path.join(folder, name) for name in os.listdir(folder))
        self.transform = transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor()])

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return self.transform(Image.open(self.files[index]).convert("RGB"))


dataset = Photos("photos")
loader = DataLoader(dataset, batch_size=64, shuffle=True, num_workers=4, pin_memory=True, persistent_workers=True)
model = nn.Sequential(nn.Conv2d(3, 8, 7, stride=4), nn.ReLU(), nn.Conv2d(8, 3, 1)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for epoch in range(10):
    for images in loader:
        loss = model(images.cuda()).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
