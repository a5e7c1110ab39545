def train_epoch(model, loader, optimizer, criterion):
    for inputs, targets in loader:
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
