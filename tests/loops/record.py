#!/usr/bin/python3
"""Runs the programs below programs/ with real PyTorch and writes down how they ended: outcomes.json.

    tests/loops/record.py --record [NAME…]   run the programs (all without one) and write what happened
    tests/loops/record.py --check [NAME…]    run them again and compare with what is recorded
    tests/loops/record.py --fixes [NAME…]    run each wrong.py after the preferred fix of stepzero ($STEPZERO): it has to run
    tests/loops/record.py --record-fixes     the same for all of them, and write what happened to fixes.json
    tests/loops/record.py --differences      what the two oracles (tests/oracles.py) did differently

The outcomes are the first oracle's; "1.13" of a program is the merge patch that makes them the second's. `--torch 1.13`
before --check asks the second.

bugs.json says of each program how it runs: "cpu" as it stands, "standin" with what stand_in.py puts in the place of CUDA,
"no" not at all (it needs another library, its files, or the arithmetic of a GPU). "pytorch" there is what PyTorch itself
says of wrong.py: {"error": text}, raised at the line of the bug or at "line", or {"warning": text}. Without it wrong.py has
to run to its end without a word, as right.py always has to.
"""

import argparse
import ast
import hashlib
import json
import os
import select
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import oracles  # noqa: E402

PROGRAMS = HERE / "programs"
OUTCOMES = HERE / "outcomes.json"
FIXES = HERE / "fixes.json"
SECONDS = 300  # no program takes one: for a loaded machine
# Of the machine, not of the program: no GPU, one process.
NOISE = ("'pin_memory' argument is set", "User provided device_type", "torch.cuda.amp.GradScaler is enabled, but",
         "The epoch parameter in `scheduler.step()` was not necessary",  # SequentialLR of PyTorch 1.13 does it
         "Can't initialize NVML", "This DataLoader will create", "The given NumPy array is not writable")


def run(script, runs):
    """{"ends": …, "line": …, "warnings": […]} of one program, in this process."""
    import warnings

    import torch
    sys.path.insert(0, str(HERE))
    import stand_in
    sys.path.pop(0)

    torch.manual_seed(0)
    torch.set_num_threads(1)
    real_loader = torch.utils.data.DataLoader.__init__

    def in_this_process(self, *args, **kwargs):
        kwargs.update({name: value for name, value in (("num_workers", 0), ("persistent_workers", False)) if name in kwargs})
        real_loader(self, *args, **kwargs)

    torch.utils.data.DataLoader.__init__ = in_this_process
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    tree = ast.parse(script.read_text())
    if runs == "standin":
        stand_in.install()
        tree = ast.fix_missing_locations(stand_in.OnCpu().visit(tree))
    sys.argv = [str(script)]
    import types
    module = types.ModuleType("__main__")
    module.__file__ = str(script)
    sys.modules["__main__"] = module
    report = {"ends": "success"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(tree, str(script), "exec"), module.__dict__)
        except Exception as error:
            text = (str(error).strip().splitlines() or [""])[0][:160]
            report["ends"] = f"{type(error).__name__}: {text}"
            at = error.__traceback__
            while at:
                if at.tb_frame.f_code.co_filename == str(script):
                    report["line"] = at.tb_lineno
                at = at.tb_next
    said = []
    for warning in caught:
        line = str(warning.message).strip().splitlines()[0][:160]
        if line not in said and not any(noise in line for noise in NOISE):
            said.append(line)
    if said:
        report["warnings"] = said
    return report


def in_a_child(script, runs):
    """The same in a process of its own: PyTorch is loaded once, and nothing that a program does stays."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        with tempfile.TemporaryDirectory() as scratch:
            try:
                silent = os.open(os.devnull, os.O_RDWR)
                for number in (0, 1, 2):
                    os.dup2(silent, number)
                os.chdir(scratch)
                report = run(script, runs)
            except BaseException as error:
                report = {"ends": f"{type(error).__name__}: {str(error)[:160]}"}
            with os.fdopen(write, "w") as pipe:
                json.dump(report, pipe)
        os._exit(0)
    os.close(write)
    text, deadline = b"", time.monotonic() + SECONDS
    while True:
        ready, _, _ = select.select([read], [], [], max(0, deadline - time.monotonic()))
        piece = os.read(read, 65536) if ready else b""
        if not piece:
            break
        text += piece
    if not ready:
        os.kill(pid, signal.SIGKILL)
    os.close(read)
    os.waitpid(pid, 0)
    return json.loads(text) if text else {"ends": "timeout" if not ready else "died"}


def text_hash(folder):
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*.py")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def ask(name, entry):
    """What a program's files did, and what of it is not what bugs.json says."""
    folder, trouble = PROGRAMS / name, []
    outcome = {"hash": text_hash(folder)}
    if entry["runs"] == "no":
        return outcome, trouble
    right = outcome["right"] = in_a_child(folder / "right.py", entry["runs"])
    if right != {"ends": "success"}:
        trouble.append(f"{name}/right.py: {right}")
    if (folder / "wrong.py").exists():
        wrong = outcome["wrong"] = in_a_child(folder / "wrong.py", entry["runs"])
        expected = entry.get("pytorch", {})
        lines = [expected["line"]] if "line" in expected else [bug["line"] for bug in entry["bugs"]]
        if "error" in expected:
            if expected["error"] not in wrong["ends"] or wrong.get("line") not in lines:
                trouble.append(f"{name}/wrong.py: {wrong}, expected {expected} at {lines}")
        elif wrong["ends"] != "success":
            trouble.append(f"{name}/wrong.py: {wrong}")
        said = wrong.get("warnings", [])
        if "warning" in expected and not any(expected["warning"] in line for line in said):
            trouble.append(f"{name}/wrong.py: warns {said}, expected {expected}")
        if "warning" not in expected and said:
            trouble.append(f"{name}/wrong.py: warns {said}")
    return outcome, trouble


def hash_of(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def fixed_programs(programs, bugs):
    """What the preferred fixes leave of programs with one mistake that run here: how, and the text, by name, line and rule."""
    import judge
    return {f"{program.name}:{bug['line']} {bug['rule']}": (bugs[program.name]["runs"], text)
            for program, bug, text in judge.preferred(programs)
            if bugs[program.name]["runs"] != "no" and len(bugs[program.name]["bugs"]) == 1}


def run_fixes(names, bugs, write):
    """They run to their end without a word."""
    import judge
    ran = {}
    for name, (runs, text) in sorted(fixed_programs(judge.judge(names), bugs).items()):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "fixed.py"
            script.write_text(text)
            ran[name] = {"hash": hash_of(text), "report": in_a_child(script, runs)}
    troubles = [f"{name}, mended: {entry['report']}" for name, entry in ran.items() if entry["report"] != {"ends": "success"}]
    print(*troubles, f"{len(ran)} preferred fixes run, {len(troubles)} complaints", sep="\n")
    if write:
        FIXES.write_text(written(ran))
    return int(bool(troubles))


def written(outcomes):
    return "{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(outcomes[name])}" for name in sorted(outcomes)) + "\n}\n"


def main():
    version = oracles.chosen()
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--record", action="store_true")
    what.add_argument("--check", action="store_true")
    what.add_argument("--fixes", action="store_true")
    what.add_argument("--record-fixes", action="store_true")
    what.add_argument("--differences", action="store_true")
    what.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    recorded = json.loads(OUTCOMES.read_text()) if OUTCOMES.exists() else {}
    if options.differences:
        for name, outcome in recorded.items():
            if oracles.SECOND in outcome:
                print(f"{name}: {json.dumps(of(oracles.FIRST, outcome))}; {oracles.SECOND}: {json.dumps(outcome[oracles.SECOND])}")
        return 0
    oracles.enter(version if options.check or options.answer else oracles.FIRST)
    oracles.load("torch.distributed", "torch.nn.parallel", "torch.utils.data")
    bugs = json.loads((HERE / "bugs.json").read_text())
    if options.fixes or options.record_fixes:
        return run_fixes(() if options.record_fixes else options.names, bugs, options.record_fixes)
    names = options.names or sorted(bugs)
    if options.answer:
        print(json.dumps({name: ask(name, bugs[name])[0] for name in names}))
        return 0
    seconds = oracles.answers(oracles.SECOND, "--answer", *options.names) if options.record else None
    outcomes = {name: recorded[name] for name in bugs if name in recorded}
    troubles, ran, judged = [], 0, 0
    for name in names:
        outcome, trouble = ask(name, bugs[name])
        ran += sum(file in outcome for file in ("right", "wrong"))
        judged += "pytorch" in bugs[name]
        if version == oracles.SECOND:
            trouble = []  # bugs.json says what the first does
        if options.check and of(version, recorded.get(name)) != outcome:
            trouble.append(f"{name}: not what is recorded: {outcome}")
        changes = oracles.patch(outcome, seconds[name]) if seconds else recorded.get(name, {}).get(oracles.SECOND)
        outcomes[name] = {**outcome, oracles.SECOND: changes} if changes else outcome
        for line in trouble:
            print(line, flush=True)
        troubles += trouble
    if options.record:
        OUTCOMES.write_text(written(outcomes))
    print(f"{len(names)} programs, {ran} files run, {judged} judged by PyTorch, {len(troubles)} complaints")
    return int(bool(troubles))


def of(version, outcome):
    """The recorded outcome as this oracle had it."""
    if outcome is None:
        return None
    plain = {key: value for key, value in outcome.items() if key != oracles.SECOND}
    return plain if version == oracles.FIRST else oracles.patched(plain, outcome.get(oracles.SECOND) or {})


if __name__ == "__main__":
    sys.exit(main())
