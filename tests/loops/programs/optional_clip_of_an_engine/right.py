import torch
from torch import nn


class Engine:
    def __init__(self, net, lr=1e-3, use_amp=True, clip=None):
        self.net = net.cuda()
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=lr)
        self.grad_scaler = torch.amp.GradScaler("cuda", enabled=use_amp)
        self.use_amp = use_amp
        self.clip = clip

    def _backward(self, loss):
        self.grad_scaler.scale(loss).backward()

    def _maybe_clip(self):
        if self.clip is not None:
            self.grad_scaler.unscale_(self.opt)
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.clip)

    def _step(self):
        self.grad_scaler.step(self.opt)
        self.grad_scaler.update()
        self.opt.zero_grad(set_to_none=True)

    def run(self, loader, epochs):
        for _ in range(epochs):
            for x, y in loader:
                with torch.autocast(device_type="cuda", dtype=torch.float16, enabled=self.use_amp):
                    loss = nn.functional.cross_entropy(self.net(x.cuda()), y.cuda())
                self._backward(loss)
                self._maybe_clip()
                self._step()
