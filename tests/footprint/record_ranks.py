#!/usr/bin/env python3
"""Records what one of several processes has, as PyTorch has it with gloo: tests/footprint/record_ranks.py [PATTERN…] writes facts_ranks.json.

Of every program in ranked/, for 2 and 3 processes, of the one that has the most: the bytes of the storages of its parameters and gradients, of
the optimizer's state, and the buckets of DistributedDataParallel; of a pipeline what autograd keeps, too, at most.
"""

import contextlib
import fnmatch
import json
import os
import pathlib
import runpy
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import oracles  # noqa: E402
import record  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
FACTS = HERE / "facts_ranks.json"
WORLDS = 2, 3


def storages(tensors):
    """Each storage once: of shards those of the process."""
    local = [each.to_local() if hasattr(each, "to_local") else each for each in tensors]
    return sum({each.untyped_storage()._cdata: each.untyped_storage().nbytes() for each in local}.values())


def measure(rank, world, port, path, queue):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(world), LOCAL_RANK=str(rank))
    import torch
    import torch.distributed as dist
    torch.set_num_threads(1)
    saved, kept, real = record.Saved(), [0], torch.autograd.backward

    def backward(*arguments, **options):
        held = {id(each): each for module in record.modules() for each in [*module.parameters(recurse=False), *module.buffers(recurse=False)]}
        kept.append(saved.bytes(held.values()))
        return real(*arguments, **options)

    if pathlib.Path(path).stem.startswith("pipeline"):
        torch.autograd.backward = backward  # a stage calls it for each microbatch
    with torch.autograd.graph.saved_tensors_hooks(saved.pack, record.unpack) if torch.autograd.backward is backward else contextlib.nullcontext():
        scope = runpy.run_path(path)
    model, optimizer = scope["model"], scope["optimizer"]
    parameters = list(model.parameters())
    inner = getattr(optimizer, "optim", optimizer)
    facts = {"parameters": storages(parameters), "gradients": storages([each.grad for each in parameters if each.grad is not None]),
             "state": storages([each for state in inner.state.values() for each in state.values() if torch.is_tensor(each)])}
    if hasattr(model, "_get_ddp_logging_data"):
        facts["buckets"] = len(model._get_ddp_logging_data()["rebuilt_bucket_sizes"].split(","))
    if torch.autograd.backward is backward:
        facts["saved"] = max(kept)
    queue.put(facts)
    dist.barrier()
    dist.destroy_process_group()


def main():
    oracles.enter(oracles.FIRST)
    import torch
    import torch.multiprocessing as processes
    facts = json.loads(FACTS.read_text()) if FACTS.exists() else {"torch": "", "programs": {}}
    facts["torch"] = torch.__version__
    context = processes.get_context("spawn")
    for path in sorted((HERE / "ranked").glob("*.py")):
        if sys.argv[1:] and not any(fnmatch.fnmatch(path.stem, each) for each in sys.argv[1:]):
            continue
        facts["programs"][path.stem] = {}
        for world in WORLDS:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            queue = context.Queue()
            running = [context.Process(target=measure, args=(rank, world, port, str(path), queue)) for rank in range(world)]
            for each in running:
                each.start()
            said = [queue.get(timeout=300) for _ in running]
            for each in running:
                each.join()
            facts["programs"][path.stem][str(world)] = {what: max(each[what] for each in said) for what in said[0]}
            print(path.stem, world, facts["programs"][path.stem][str(world)], flush=True)
    FACTS.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
