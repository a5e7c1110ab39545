"""Train / validation split of a TensorDataset with random_split, learning-rate schedule, best checkpoint in memory."""
import copy

import torch
import torch.nn as nn
import torch.optim as optim
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, TensorDataset, random_split


def build_model(n_features: int, n_classes: int) -> nn.Module:
    return nn.Sequential(
        nn.Linear(n_features, 32),
        nn.BatchNorm1d(32),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(32, n_classes),
    )


def train_model(model, criterion, optimizer, scheduler, dataloaders, dataset_sizes, num_epochs=2):
    best_model_wts = copy.deepcopy(model.state_dict())
    best_acc = 0.0

    for epoch in range(num_epochs):
        for phase in ["train", "val"]:
            if phase == "train":
                model.train()
            else:
                model.eval()

            running_loss = 0.0
            running_corrects = 0

            for inputs, labels in dataloaders[phase]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    outputs = model(inputs)
                    _, preds = torch.max(outputs, 1)
                    loss = criterion(outputs, labels)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()

                running_loss += loss.item() * inputs.size(0)
                running_corrects += torch.sum(preds == labels.data).item()

            if phase == "train":
                scheduler.step()

            epoch_loss = running_loss / dataset_sizes[phase]
            epoch_acc = running_corrects / dataset_sizes[phase]
            print(f"{phase} loss {epoch_loss:.4f} acc {epoch_acc:.4f}")
            if phase == "val" and epoch_acc > best_acc:
                best_acc = epoch_acc
                best_model_wts = copy.deepcopy(model.state_dict())

    model.load_state_dict(best_model_wts)
    return model


def main():
    torch.manual_seed(0)
    n_samples, n_features, n_classes = 50, 8, 3
    data = torch.randn(n_samples, n_features)
    labels = (data[:, 0] > 0).long() + (data[:, 1] > 0.5).long()
    dataset = TensorDataset(data, labels)
    n_val = int(0.2 * n_samples)
    train_set, val_set = random_split(dataset, [n_samples - n_val, n_val])
    dataloaders = {
        "train": DataLoader(train_set, batch_size=16, shuffle=True),
        "val": DataLoader(val_set, batch_size=16),
    }
    dataset_sizes = {"train": len(train_set), "val": len(val_set)}
    model = build_model(n_features, n_classes)
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scheduler = lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    model = train_model(model, criterion, optimizer, scheduler, dataloaders, dataset_sizes)
    with torch.no_grad():
        model.eval()
        probabilities = torch.softmax(model(data[:5]), dim=1)
    print(probabilities.sum(dim=1))


if __name__ == "__main__":
    main()
