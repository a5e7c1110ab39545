#!/usr/bin/env python3
"""Records what training steps take on a GPU: python3 tests/footprint/record_cuda.py FOLDER writes facts_cuda.json there.

Runs under the Python whose PyTorch has the GPU, wherever that is; what it needs besides is in this folder.

Of every program in cuda/: what the allocator was asked for (memory_stats: requested bytes, not what it rounds up to), at the peaks of the
forward, the backward and the optimizer's step of the last of its steps, and between forward and backward; once without the workspaces of
cuBLAS and once with them. FOLDER/peaks.json says of the first which lines hold how much at the peak.

Of optimizers with their options: what a step makes besides parameters, gradients and state, for eight matrices of 1024 x 1024, and its state.

Of every program in programs/, its tensors made on the GPU, and of the classification models of torchvision: what autograd keeps until the
backward, as in record.py.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import warnings

import record

HERE = pathlib.Path(__file__).resolve().parent
REQUESTED = "requested_bytes.all."
OPTIMIZERS = {
    "SGD": ["lr=0.1", "lr=0.1, momentum=0.9", "lr=0.1, momentum=0.9, weight_decay=0.1", "lr=0.1, momentum=0.9, nesterov=True", "lr=0.1, momentum=0.9, weight_decay=0.1, foreach=False", "lr=0.1, momentum=0.9, fused=True"],
    "Adam": ["", "weight_decay=0.1", "amsgrad=True", "foreach=False", "fused=True"],
    "AdamW": ["", "amsgrad=True", "foreach=False", "fused=True"],
    "NAdam": ["", "weight_decay=0.1", "foreach=False"],
    "RAdam": ["", "foreach=False"],
    "Adamax": ["", "foreach=False"],
    "Adagrad": ["", "foreach=False"],
    "Adadelta": ["", "foreach=False"],
    "RMSprop": ["", "momentum=0.9", "centered=True", "foreach=False"],
    "Rprop": ["", "foreach=False"],
    "ASGD": ["", "foreach=False"],
    "Adafactor": [""],
    "Muon": [""],
}
NO_WORKSPACE = {"CUBLAS_WORKSPACE_CONFIG": ":0:0", "CUBLASLT_WORKSPACE_SIZE": "0"}


class Phases:
    """The peaks of the step that runs now; those of the last one are left."""

    def __init__(self):
        self.facts = {}

    def enter(self, before):
        import torch

        torch.cuda.synchronize()
        stats = torch.cuda.memory_stats()
        self.facts[before] = stats[REQUESTED + "peak"]
        torch.cuda.reset_peak_memory_stats()
        return stats[REQUESTED + "current"]


def run(path):
    """The peaks of a program's last step."""
    import torch
    from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

    phases, saved = Phases(), record.Saved()
    backward = torch.Tensor.backward

    def measured(self, *arguments, **options):
        phases.facts["kept"] = phases.enter("forward")
        held = [each for module in record.modules() for each in [*module.parameters(recurse=False), *module.buffers(recurse=False)]]
        phases.facts["saved"] = saved.bytes(held)
        backward(self, *arguments, **options)
        phases.enter("backward")

    def before(*_):
        phases.enter("between")

    def after(*_):
        phases.enter("optimizer")

    torch.Tensor.backward = measured
    register_optimizer_step_pre_hook(before)
    register_optimizer_step_post_hook(after)
    with torch.autograd.graph.saved_tensors_hooks(saved.pack, record.unpack):
        names = {"__name__": "__main__"}
        exec(compile(path.read_text(), "program", "exec"), names)
    phases.facts["whole"] = max(phases.facts[each] for each in ("forward", "backward", "between", "optimizer"))
    return phases.facts


def peak_lines(path):
    """What is allocated at the peak of the second half of a program, by lines: [bytes, blocks, line, what PyTorch was doing]."""
    import torch

    torch.cuda.memory._record_memory_history(max_entries=2_000_000, stacks="python")
    exec(compile(path.read_text(), "program", "exec"), {"__name__": "__main__"})
    trace = torch.cuda.memory._snapshot()["device_traces"][0]
    alive, now, best, at_peak, peak_at = {}, 0, 0, [], None
    for number, event in enumerate(trace):
        if event["action"] == "alloc":
            alive[event["addr"]] = event
            now += event["size"]
            if now > best and number > len(trace) // 2:
                best, at_peak, peak_at = now, list(alive.values()), event
        elif event["action"] == "free_completed" and event["addr"] in alive:
            now -= alive.pop(event["addr"])["size"]
    lines = {}

    def where(event):
        frames = event["frames"]
        own = next((f"line {each['line']}" for each in frames if each["filename"] == "program"), "none")
        inner = " < ".join(f"{pathlib.Path(each['filename']).name}:{each['line']} {each['name']}" for each in frames[:3])
        return own, inner

    for event in at_peak:
        entry = lines.setdefault(where(event), [0, 0])
        entry[0] += event["size"]
        entry[1] += 1
    return {"peak": best, "at": where(peak_at), "lines": sorted(([*entry, *key] for key, entry in lines.items()), reverse=True)[:40]}


def saved_by(path):
    import torch

    torch.set_default_device("cuda")
    facts = record.run(record.on_gpu(path.read_text()))
    return {name: facts[name] for name in ("parameters", "buffers", "state", "saved") if name in facts}


def optimizers():
    import torch

    made = {}
    for name, each in OPTIMIZERS.items():
        for options in each:
            parameters = [torch.nn.Parameter(torch.randn(1024, 1024, device="cuda")) for _ in range(8)]
            optimizer = getattr(torch.optim, name)(parameters, **eval(f"dict({options})"))
            for _ in range(3):
                for parameter in parameters:
                    parameter.grad = torch.randn_like(parameter)
                torch.cuda.synchronize()
                torch.cuda.reset_peak_memory_stats()
                before = torch.cuda.memory_stats()[REQUESTED + "current"]
                optimizer.step()
                torch.cuda.synchronize()
                peak = torch.cuda.memory_stats()[REQUESTED + "peak"]
            state = record.size(value for state in optimizer.state.values() for value in state.values() if isinstance(value, torch.Tensor))
            made[f"{name}({options})"] = {"temporary": peak - before, "state": state}
            del optimizer, parameters
    return made


def saved_by_torchvision():
    import torch
    import torchvision.models as models
    from torch.nn import functional as F

    made = {}
    for name in models.list_models(models):
        fixed = name.startswith(("vit", "swin", "maxvit"))
        sizes = ((2, 299),) if name == "inception_v3" else ((2, 224),) if fixed else ((3, 160),)
        made[name] = []
        for batch, side in sizes:
            saved = record.Saved()
            try:
                with torch.autograd.graph.saved_tensors_hooks(saved.pack, record.unpack):
                    with torch.device("cuda"):
                        model = models.get_model(name).train()
                    x, y = torch.zeros(batch, 3, side, side, device="cuda"), torch.zeros(batch, dtype=torch.int64, device="cuda")
                    outputs = model(x)
                    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
                    loss = sum(F.cross_entropy(each, y) for each in outputs)
                assert loss.requires_grad
                made[name].append([batch, side, saved.bytes([*model.parameters(), *model.buffers()])])
                del outputs, loss, model
            except Exception as error:
                print(f"{name}: {type(error).__name__}: {str(error)[:150]}", file=sys.stderr)
    return made


def job(what, path="", **environment):
    """The answer of another process: one program there, so that nothing of another is in its memory."""
    done = subprocess.run([sys.executable, __file__, "--one", what, str(path)], capture_output=True, text=True, env={**os.environ, **environment}, timeout=300)
    if done.returncode != 0:
        print(f"{what} {path}: {done.stderr[-200:]}", file=sys.stderr)
        return None
    sys.stderr.write(done.stderr[-300:] if what == "torchvision" else "")
    return json.loads(done.stdout.splitlines()[-1])


def one(what, path):
    warnings.simplefilter("ignore")
    path, sys.argv = pathlib.Path(path), [path]
    made = {"run": lambda: run(path), "lines": lambda: peak_lines(path), "saved": lambda: saved_by(path), "torchvision": saved_by_torchvision, "optimizers": optimizers}[what]()
    print(json.dumps(made))


def main():
    if sys.argv[1] == "--one":
        return one(*sys.argv[2:])
    import torch

    folder = pathlib.Path(sys.argv[1])
    steps, small = sorted((HERE / "cuda").glob("*.py")), sorted((HERE / "programs").glob("*.py"))
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        vision, stepped = pool.submit(job, "torchvision"), pool.submit(job, "optimizers")
        bare = {path.stem: pool.submit(job, "run", path, **NO_WORKSPACE) for path in steps}
        usual = {path.stem: pool.submit(job, "run", path) for path in steps}
        lines = {path.stem: pool.submit(job, "lines", path, **NO_WORKSPACE) for path in steps}
        saved = {path.stem: pool.submit(job, "saved", path) for path in small}
        done = lambda jobs: {name: each.result() for name, each in jobs.items() if each.result()}
        programs = done(bare)
        for name, facts in done(usual).items():
            if name in programs:
                programs[name]["with_workspaces"] = facts["whole"]
        (folder / "peaks.json").write_text(json.dumps(done(lines), indent=0))
        write = lambda group: "{\n" + ",\n".join(f"  {json.dumps(name)}: {json.dumps(group[name])}" for name in sorted(group)) + "\n}"
        (folder / "facts_cuda.json").write_text(
            f'{{"torch": {json.dumps(torch.__version__)}, "gpu": {json.dumps(torch.cuda.get_device_name())},\n'
            f'"steps": {write(programs)},\n"programs": {write(done(saved))},\n"torchvision": {write(vision.result() or {})},\n"optimizers": {write(stepped.result() or {})}}}\n')


if __name__ == "__main__":
    main()
