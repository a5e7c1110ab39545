import torch


def optimize(shared, a, b, loader):
    opt_a = torch.optim.Adam(a.parameters())
    opt_b = torch.optim.Adam(b.parameters())
    for x, y in loader:
        h = shared(x)
        la = torch.nn.functional.mse_loss(a(h), y)
        lb = torch.nn.functional.mse_loss(b(h), y)
        opt_a.zero_grad()
        opt_b.zero_grad()
        la.backward(retain_graph=True)
        lb.backward()
        opt_a.step()
        opt_b.step()
