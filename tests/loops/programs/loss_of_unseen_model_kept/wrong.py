import torch


def train_one_epoch(net, loader, optimizer, epoch, device):
    net.train()
    running_loss = 0.0
    for i, data in enumerate(loader, 0):
        inputs, labels = data[0].to(device), data[1].to(device)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(inputs), labels)
        loss.backward()
        optimizer.step()
        running_loss += loss
    print(f"[{epoch}] {running_loss / len(loader):.3f}")
