import torch
from torch import nn

model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Dropout(0.1), nn.Linear(12, 3))
model.eval()


def attack(images, labels, epsilon=0.03, steps=3):
    adversarial = images.clone()
    for _ in range(steps):
        adversarial.requires_grad_(True)
        loss = nn.functional.cross_entropy(model(adversarial), labels)
        gradient = torch.autograd.grad(loss, adversarial)[0]
        adversarial = (adversarial + epsilon * gradient.sign()).detach()
    return adversarial


def saliency(image):
    image = image.clone().requires_grad_()
    model(image).max(dim=1).values.sum().backward()
    return image.grad.abs()


for _ in range(3):
    x, y = torch.randn(4, 6), torch.randint(0, 3, (4,))
    attack(x, y)
    saliency(x)
