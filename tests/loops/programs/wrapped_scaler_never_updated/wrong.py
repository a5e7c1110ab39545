import torch


class FP16Optimizer:
    """Wraps an optimizer with a loss scaler."""

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.scaler = torch.amp.GradScaler("cuda", init_scale=2.0**14)

    def backward(self, loss):
        self.scaler.scale(loss).backward()

    def step(self):
        self.scaler.step(self.optimizer)

    def zero_grad(self):
        self.optimizer.zero_grad()


def main(net, batches):
    opt = FP16Optimizer(torch.optim.Adam(net.parameters(), lr=1e-4))
    for x, y in batches:
        opt.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(net(x), y)
        opt.backward(loss)
        opt.step()
