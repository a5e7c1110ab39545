#!/usr/bin/python3
"""Asks real PyTorch about the blocks of tests/cases/**/*.md that are tagged `torch`.

    tests/cases/oracle.py --record [--all]    run the blocks without a recorded outcome (or all), write oracle.json
    tests/cases/oracle.py --check [NUMBER]    run NUMBER recorded blocks again (all without it) and compare
    tests/cases/oracle.py --fixes STEPZERO    run what each quick-fix makes of the blocks that raise or hang: they must run
    tests/cases/oracle.py --list              the blocks, with their hashes and what is recorded
    tests/cases/oracle.py --differences       the blocks that the two oracles (tests/oracles.py) judge differently

`outcome` is the first oracle's word, "1.13" the second's; it is null where that was not asked. `--torch 1.13` before --check asks the second.

A block that defines `main(rank, world_size)` runs as two processes over gloo: it `hangs` where a collective waits longer
than its time limit while the other rank is done or waits elsewhere, and `raises` where a rank ends with an error. Any
other block is executed as a script. What the text is, without its expectations, is what markdown.cpp says it is.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import oracles  # noqa: E402

RECORD = HERE / "oracle.json"
EXPECTATION = re.compile(r"[ \t]*#[ \t]*((?:FIXME (?:no )?)?(?:error|warning|information|hint)\[.*|(?:FIXME )?reveal(?: [\w.]+)?:.*)$")
COLLECTIVE_SECONDS = 3   # what a rank waits for the others
LIMIT_SECONDS = 4        # what a block may take once both ranks are up
PATIENCE = 30            # for the machine, not for the block
SLOWER = 10              # how much slower a loaded machine may be: see ask_patiently


@dataclass
class Block:
    case: str
    files: list  # [(title, text)], the one that runs last
    fails: bool  # what the expectations say


    @property
    def hash(self):
        value = 14695981039346656037
        for title, text in self.files:
            for byte in title.encode() + b"\0" + text.encode() + b"\0":
                value = (value ^ byte) * 1099511628211 & 0xFFFFFFFFFFFFFFFF
        return f"{value:016x}"

    @property
    def distributed(self):
        return re.search(r"^def main\(rank, world_size\):", self.files[-1][1], re.M) is not None


def plain(lines, crlf):
    """The text without its expectations, and whether they say that it fails."""
    text, fails = "", False
    for line in lines:
        match = EXPECTATION.search(line)
        if match:
            for each in match.group(1).split(" ; "):
                fails |= bool(re.match(r"(FIXME )?error\[(?!amp/)", each))
            line = line[:match.start()]
            if not line:
                continue
        text += line + ("\r\n" if crlf else "\n")
    return text, fails


def blocks_of(path):
    name, heading = path.relative_to(HERE).as_posix(), ""
    blocks, pending, program = [], [], None

    def end():
        nonlocal pending, program
        if pending:
            main = next((i for i, file in enumerate(pending[:-1]) if file[0] == "main.py"), None)
            if main is not None:
                pending[main], pending[-1] = pending[-1], pending[main]
            program = pending
            if any(file[3] for file in program):
                blocks.append(Block(f"{name}: {heading}", [file[:2] for file in program], any(file[2] for file in program)))
        pending = []

    lines = path.read_bytes().decode().split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("#"):
            end()
            heading = line.lstrip("# ")
        elif line.startswith("```"):
            fence = re.match("`+", line).group(0)
            stop = lines.index(fence, at + 1)
            words = re.findall(r'[^\s"]*"[^"]*"|\S+', line[len(fence):])
            if words and words[0] in ("python", "json", "yaml"):
                text, fails = plain(lines[at + 1:stop], "crlf" in words)
                title = next((word[7:-1] for word in words if word.startswith("title=")), "")
                if "after-fix" in words:
                    end()
                    if any(file[3] for file in program):
                        title = title or program[-1][0]
                        files = [(file[0], text if file[0] == title else file[1]) for file in program]
                        blocks.append(Block(f"{name}: {heading} (after the fix)", files, fails))
                else:
                    if title in [file[0] for file in pending]:
                        end()
                    pending.append((title or "main.py", text, fails, "torch" in words))
                    if not title:
                        end()
            at = stop
        at += 1
    end()
    return blocks


def all_blocks():
    found = {}
    for path in sorted(HERE.glob("**/*.md")):
        if path.name != "README.md":
            for block in blocks_of(path):
                found.setdefault(block.hash, block)
    return found


def write_files(block, folder):
    for title, text in block.files:
        path = folder / title
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder / block.files[-1][0]


def execute(script, folder, name):
    """Runs the script in this process; returns its namespace."""
    sys.path[:0] = [str(folder), str(folder / "src")]
    sys.argv = [str(script)]
    os.chdir(folder)
    sys.dont_write_bytecode = True
    code = compile(script.read_bytes(), str(script), "exec")
    relative = script.relative_to(folder)
    package = ".".join(relative.parts[:-1])
    import types
    module = types.ModuleType(name)
    module.__file__, module.__package__ = str(script), package
    sys.modules[name] = module
    if package:
        __import__(package)
    exec(code, module.__dict__)
    return module.__dict__


def child(write, run, slower):
    """Forks; the child runs and reports {"outcome", "detail"} to the pipe."""
    pid = os.fork()
    if pid:
        return pid
    os.setsid()
    silent = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(silent, number)
    try:
        run()
        report = {"outcome": "runs", "detail": ""}
    except BaseException as error:
        if isinstance(error, SystemExit) and not error.code:
            report = {"outcome": "runs", "detail": ""}
        else:
            last = (str(error).strip().splitlines() or [""])[0]
            waited = re.search(r"Timed out waiting|timed out|Wait timeout|[Tt]imeout after", str(error)) is not None
            report = {"outcome": "hangs" if waited else "raises", "detail": f"{type(error).__name__}: {last}"[:160]}
            if waited:
                frames = [frame.name for frame in traceback.extract_tb(error.__traceback__) if "torch/distributed" in frame.filename
                          or "torch/nn" in frame.filename]
                report["detail"] = "waits in " + (frames[-1] if frames else "a collective")
    os.write(write, json.dumps(report).encode())
    os.close(write)
    time.sleep(2 * PATIENCE * slower)  # the other rank must not see this one go; the parent ends both
    os._exit(0)


def reap(children):
    for pid in children:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(pid, 0)


def ask_patiently(block, expected):
    """The same; a machine that is too slow looks like a hang, so one that nobody expected has to last ten times as long."""
    outcome = ask(block)
    return ask(block, SLOWER) if outcome["outcome"] == "hangs" and not expected(outcome) else outcome


def ask(block, slower=1):
    """{"outcome": runs | raises | hangs, "detail": …} of one block."""
    folder = Path(tempfile.mkdtemp(prefix="oracle-"))
    try:
        script = write_files(block, folder)
        if not block.distributed:
            return collect([lambda: execute(script, folder, "__main__")], folder, slower)

        def rank_of(rank):
            def run():
                import torch.distributed as dist
                os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2", LOCAL_WORLD_SIZE="2")
                dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2,
                                        timeout=timedelta(seconds=COLLECTIVE_SECONDS * slower))
                main = execute(script, folder, "program")["main"]
                dist.init_process_group = lambda *arguments, **options: None
                dist.destroy_process_group = lambda group=None: None
                open(folder / f"ready{rank}", "w").close()
                while not (folder / f"ready{1 - rank}").exists():
                    time.sleep(0.01)
                main(rank, 2)
            return run

        return collect([rank_of(0), rank_of(1)], folder, slower)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def collect(runs, folder, slower):
    pipes, children, reports = [], [], []
    try:
        for run in runs:
            read, write = os.pipe()
            children.append(child(write, run, slower))
            os.close(write)
            os.set_blocking(read, False)
            pipes.append(read)
        reports = [None] * len(runs)
        begin = time.monotonic()
        started = None
        while None in reports:
            for i, read in enumerate(pipes):
                if reports[i] is None:
                    try:
                        data = os.read(read, 65536)
                        reports[i] = json.loads(data) if data else {"outcome": "raises", "detail": "the process died"}
                    except BlockingIOError:
                        pass
            ready = len(runs) == 1 or all((folder / f"ready{i}").exists() for i in range(len(runs)))
            if ready and started is None:
                started = time.monotonic()
            # A collective that waits tells it itself after COLLECTIVE_SECONDS. Some calls (new_group) have no time limit.
            if len(runs) > 1 and started and any(reports) and time.monotonic() - started > 2 * LIMIT_SECONDS * slower:
                break
            if time.monotonic() - begin > PATIENCE * slower:
                break
            time.sleep(0.01)
    finally:
        reap(children)
        for read in pipes:
            os.close(read)
    missing = [report for report in reports if report is None]
    ended = [report for report in reports if report]
    for outcome in ("hangs", "raises"):
        for report in ended:
            if report["outcome"] == outcome:
                return report
    if missing:
        return {"outcome": "hangs", "detail": "waits without a time limit" if ended else "neither rank comes to an end"}
    return ended[0]


def findings(stepzero, block):
    """The errors that stepzero finds in a block, with paths relative to it."""
    folder = Path(tempfile.mkdtemp(prefix="oracle-"))
    try:
        write_files(block, folder)
        run = subprocess.run([stepzero, "check", "--format", "json", "."], cwd=folder, capture_output=True, text=True, timeout=60)
        return [each for each in json.loads(run.stdout)["diagnostics"] if each["severity"] == "error"]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def edited(text, edits):
    """The text after edits whose lines and columns count from 1, columns in code points."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    place = lambda at: starts[at["line"] - 1] + at["column"] - 1
    for edit in sorted(edits, key=lambda edit: place(edit["range"]["start"]), reverse=True):
        text = text[:place(edit["range"]["start"])] + edit["new_text"] + text[place(edit["range"]["end"]):]
    return text


def fixed_blocks(stepzero, block):
    """(titles, block) for each fix of a block with one error, and for all preferred ones together of a block with several."""
    errors = findings(stepzero, block)
    if len(errors) == 1:
        choices = [([fix["title"]], fix["edits"]) for fix in errors[0]["fixes"]]
    else:
        preferred = [fix for error in errors for fix in error["fixes"] if fix["preferred"]]
        choices = [([fix["title"] for fix in preferred], [edit for fix in preferred for edit in fix["edits"]])] if preferred else []
    for titles, edits in choices:
        files = [(title, edited(text, [edit for edit in edits if os.path.normpath(edit["path"]) == title])) for title, text in block.files]
        yield titles, Block(block.case, files, False)


def check_fixes(stepzero, blocks, recorded):
    """How many fixes leave a program that real PyTorch does not run, though stepzero finds no error in it."""
    asked = wrong = open_still = 0
    for key, block in blocks.items():
        if recorded.get(key, {}).get("outcome", "runs") == "runs":
            continue
        for titles, fixed in fixed_blocks(stepzero, block):
            if findings(stepzero, fixed):
                open_still += 1
                continue
            outcome = ask_patiently(fixed, lambda outcome: False)
            if "not implemented for 'Half'" in outcome["detail"]:  # the CPU has no such kernel; a GPU has
                continue
            asked += 1
            if outcome["outcome"] != "runs":
                wrong += 1
                print(f"{block.case}: after {' and '.join(titles)} it {outcome['outcome']} ({outcome['detail']})", flush=True)
    print(f"{asked} fixes run, {wrong} of them leave a program that fails; {open_still} leave other errors of the block")
    return int(wrong > 0)


def load():
    return json.loads(RECORD.read_text())["outcomes"] if RECORD.exists() else {}


def agrees(block, outcome):
    return block.fails == (outcome["outcome"] != "runs")


def answer(keys):
    """Asks about the blocks of these hashes and prints the outcomes as JSON: what the second oracle is asked by the first."""
    blocks = all_blocks()
    print(json.dumps({key: ask_patiently(blocks[key], lambda outcome: agrees(blocks[key], outcome)) for key in keys if key in blocks}))


def asked_of_second(keys):
    """The outcomes of the second oracle in a few words, by hash; null where it is not installed."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as listed:
        json.dump(keys, listed)
        listed.flush()
        said = oracles.answers(oracles.SECOND, "--answer", listed.name) if keys else {}
    words = lambda entry: entry["outcome"] + (": " + entry["detail"] if entry["detail"] else "")
    return {key: words(said[key]) if said and key in said else None for key in keys}


def record(blocks, recorded, everything):
    kept = {key: recorded[key] for key in blocks if key in recorded and oracles.SECOND in recorded[key] and not everything}
    wrong = 0
    for key, block in blocks.items():
        if key in kept:
            continue
        outcome = ask_patiently(block, lambda outcome: agrees(block, outcome))
        kept[key] = {"case": block.case, **outcome, oracles.SECOND: None}
        if not agrees(block, outcome):
            wrong += 1
            print(f"{block.case}: PyTorch disagrees: it {outcome['outcome']} ({outcome['detail']})", flush=True)
    write(kept)
    for key, said in asked_of_second([key for key in kept if kept[key][oracles.SECOND] is None]).items():
        kept[key][oracles.SECOND] = said if differs(kept[key], said) else said and said.split(":")[0]
    write(kept)
    print(f"{len(kept)} blocks, {wrong} disagree")
    return int(wrong > 0)


def is_recorded(blocks, recorded):
    """There is nothing to ask and nothing to forget."""
    unknown = {key for key, entry in recorded.items() if entry.get(oracles.SECOND) is None}
    return blocks.keys() == recorded.keys() and not (unknown and oracles.python(oracles.SECOND))


def write(outcomes):
    import torch
    ordered = dict(sorted(outcomes.items(), key=lambda item: (item[1]["case"], item[0])))
    RECORD.write_text(json.dumps({"torch": torch.__version__, "outcomes": ordered}, indent=1) + "\n")


def differs(entry, second):
    return second is not None and second.split(":")[0] != entry["outcome"]


def check(blocks, recorded, number, version):
    wrong = 0
    word = lambda entry: entry["outcome"] if version == oracles.FIRST else (entry.get(oracles.SECOND) or "").split(":")[0]
    keys = [key for key in blocks if key in recorded and word(recorded[key])]
    if number:
        keys = keys[::max(1, len(keys) // number)]
    for key in keys:
        outcome = ask_patiently(blocks[key], lambda outcome: word(recorded[key]) != "runs")
        if (outcome["outcome"] == "runs") != (word(recorded[key]) == "runs"):
            wrong += 1
            print(f"{blocks[key].case}: recorded {word(recorded[key])}, now {outcome['outcome']} ({outcome['detail']})", flush=True)
    print(f"{len(keys)} blocks asked, {wrong} differ from the record")
    return int(wrong > 0)


def main():
    version = oracles.chosen()
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--record", action="store_true")
    what.add_argument("--check", nargs="?", type=int, const=0, metavar="NUMBER")
    what.add_argument("--fixes", metavar="STEPZERO")
    what.add_argument("--list", action="store_true")
    what.add_argument("--differences", action="store_true")
    what.add_argument("--answer", metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("--all", action="store_true", help="ask again about what is recorded")
    options = parser.parse_args()
    blocks, recorded = all_blocks(), load()
    if options.list:
        for key, block in blocks.items():
            print(key, recorded.get(key, {}).get("outcome", "?"), block.case)
        return 0
    if options.differences:
        for entry in recorded.values():
            if differs(entry, entry.get(oracles.SECOND)):
                print(f"{entry['case']}: it {entry['outcome']}{': ' * bool(entry['detail'])}{entry['detail']}; {oracles.SECOND}: {entry[oracles.SECOND]}")
        return 0

    if options.record and not options.all and is_recorded(blocks, recorded):
        print(f"{len(blocks)} blocks, all of them recorded")
        return 0
    oracles.enter(oracles.FIRST if options.record else version)
    load_torch()
    if options.answer:
        answer(json.loads(Path(options.answer).read_text()))
        return 0
    if options.fixes:
        return check_fixes(str(Path(options.fixes).resolve()), blocks, recorded)
    if options.record:
        return record(blocks, recorded, options.all)
    return check(blocks, recorded, options.check, version)


def load_torch():
    oracles.load("torch.distributed", "torch.distributed.tensor", "torch.distributed.fsdp")
    sys.modules["torch"].set_num_threads(1)


if __name__ == "__main__":
    sys.exit(main())
