import torch
from contextlib import nullcontext

device_type = "cuda" if torch.cuda.is_available() else "cpu"
dtype = "bfloat16" if torch.cuda.is_available() and torch.cuda.is_bf16_supported() else "float16"
ptdtype = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[dtype]
ctx = nullcontext() if device_type == "cpu" else torch.amp.autocast(device_type=device_type, dtype=ptdtype)
grad_accum = 8
max_iters = 1000
grad_clip = 1.0


def run(model, get_batch):
    scaler = torch.amp.GradScaler(device_type, enabled=(dtype == "float16"))
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4, betas=(0.9, 0.95))
    X, Y = get_batch("train")
    it = 0
    while True:
        for micro in range(grad_accum):
            with ctx:
                _, loss = model(X, Y)
                loss = loss / grad_accum
            X, Y = get_batch("train")
            scaler.scale(loss).backward()
        if grad_clip != 0.0:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        it += 1
        if it > max_iters:
            break
