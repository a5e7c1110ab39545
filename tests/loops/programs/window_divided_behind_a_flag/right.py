import torch


def run(model, dl, opt, sched, args):
    n = args.gradient_accumulation_steps
    opt.zero_grad()
    global_step = 0
    for epoch in range(args.epochs):
        for i, batch in enumerate(dl):
            out = model(**{k: v.to(args.device) for k, v in batch.items()})
            loss = out.loss
            if n > 1:
                loss = loss / n
            loss.backward()
            if (i + 1) % n == 0 or (i + 1) == len(dl):
                torch.nn.utils.clip_grad_norm_(model.parameters(), args.max_grad_norm)
                opt.step()
                sched.step()
                opt.zero_grad()
                global_step += 1
                if args.max_steps > 0 and global_step >= args.max_steps:
                    return
