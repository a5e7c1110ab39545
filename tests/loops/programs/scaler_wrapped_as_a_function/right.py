import torch


class NativeScaler:
    def __init__(self):
        self._scaler = torch.amp.GradScaler("cuda")

    def __call__(self, loss, optimizer, clip_grad=None, parameters=None, need_update=True):
        self._scaler.scale(loss).backward()
        if need_update:
            if clip_grad is not None:
                assert parameters is not None
                self._scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(parameters, clip_grad)
            self._scaler.step(optimizer)
            self._scaler.update()


def train(model, loader, optimizer, accum_iter=2):
    loss_scaler = NativeScaler()
    optimizer.zero_grad()
    for it, (samples, _) in enumerate(loader):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(samples.cuda()).mean()
        loss = loss / accum_iter
        loss_scaler(loss, optimizer, clip_grad=1.0, parameters=model.parameters(), need_update=(it + 1) % accum_iter == 0)
        if (it + 1) % accum_iter == 0:
            optimizer.zero_grad()
