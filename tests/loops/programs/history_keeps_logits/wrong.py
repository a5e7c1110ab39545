import torch


class History:
    def __init__(self):
        self.losses = []


def fit(model, loader, epochs):
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    history = {"loss": [], "logits": []}
    for epoch in range(epochs):
        for x, y in loader:
            logits = model(x)
            loss = torch.nn.functional.cross_entropy(logits, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            history["loss"].append(loss.item())
            history["logits"].append(logits)
    return history
