#!/usr/bin/env python3
"""Runs the programs below programs/ for real, with their number of ranks over gloo, and writes what happened.

    tests/ranks/record.py --record [NAME…]   run them and write outcomes.json
    tests/ranks/record.py --check [NAME…]    run them and compare with outcomes.json (the messages apart: gloo's vary)
    tests/ranks/record.py --fixed [NAME…]    run what each quick-fix makes of each wrong.py, and write fixed.json: it has to end then

An outcome is one of
    success   every rank ran to its end
    hang      a rank did not end in time; or it was gloo that gave up first: a time-out, or a connection that closed because
              another rank had gone. With NCCL, or with the default time limit, such a rank waits
    error     a rank raised first, whatever became of the others then

It is the first oracle's (tests/oracles.py); "1.13" says what the second's is where that is another. `--torch 1.13` before
--check asks the second.
Every right.py has to succeed, and every wrong.py to do what bugs.json says of it. The ranks are forked from a process that has
PyTorch; those of a program with "own_python" there are not: each has its own order of sets.
"""

import argparse
import concurrent.futures
import hashlib
import json
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
BUGS = HERE / "bugs.json"
OUTCOMES = HERE / "outcomes.json"
SECONDS = 20
AT_ONCE = 6  # programs: most of them wait most of the time
SECONDS_OF_FIXED = 90  # these should end: only those that do not take so long
GAVE_UP = re.compile(r"connection (closed by peer|reset by peer|refused)|broken pipe|timed out|timeout|socket closed"
                     r"|monitoredBarrier", re.I)

sys.path[:0] = [str(HERE.parent / "oracle"), str(HERE.parent)]
import fixed  # noqa: E402
import forked  # noqa: E402
import launch as oracle  # noqa: E402
import oracles  # noqa: E402

oracle.RANK = str(HERE / "forked.py")


def without_paths(message):
    """The last line that says something; no place of this machine, no port."""
    lines = [line for line in message.strip().splitlines() if line.strip()] or [""]
    line = re.sub(r"\[\S*?([\w.]+\.(?:cc|cpp|h)):\d+\]", r"[\1]", lines[0])
    line = re.sub(r"(?<![\w.])/\S*/", "", line)
    return re.sub(r"\[(?:127\.0\.0\.1|::1|[\w.:]+)\]:\d+", "[peer]", line)[:160]


def one(ended):
    """How a rank ended: {"ended": "ok" | "error" | "gave up" | "waiting" | "died"} and the error's line."""
    last = re.findall(r"^@ended (.*)$", ended.output, re.M)
    if ended.status is None:
        waits = re.findall(r'File "[^"]*distributed_c10d\.py", line \d+ in (\w+)', ended.output)
        return {"ended": "waiting", **({"in": waits[-1]} if waits else {})}, None
    if not last:
        return {"ended": "died", "error": without_paths((ended.output.strip().splitlines() or [""])[-1])}, None
    said = json.loads(last[-1])
    if said["error"] is None:
        return {"ended": "ok" if ended.status == 0 else f"exit {ended.status}"}, said["at"]
    kind = "gave up" if GAVE_UP.search(said["error"]) else "error"
    return {"ended": kind, "error": without_paths(said["error"])}, said["at"]


def outcome(ranks):
    """What the ranks' ends, with their times, amount to."""
    if all(rank["ended"] == "ok" for rank, _ in ranks):
        return "success"
    failed = sorted((at if at is not None else -1.0, rank["ended"]) for rank, at in ranks if rank["ended"] not in ("ok", "waiting"))
    if any(kind == "died" for _, kind in failed):
        return "error"
    failed = [kind for _, kind in failed]
    if any(kind != "gave up" for kind in failed):
        return "error" if failed[0] != "gave up" else "hang"
    return "hang"


def run(program, ranks, seconds=SECONDS, own_python=False):
    with tempfile.TemporaryDirectory() as scratch:
        ended = oracle.launch(program, ranks=ranks, seconds=seconds, folder=scratch, after="@begins", of=all,
                              start=None if own_python else forked.Forked)
    # A rank that ended past the limit ended because the oracle had begun to kill the others: it waited too.
    limit = ended[0].until
    each = [({"ended": "waiting"}, at) if at is not None and at >= limit else (end, at) for end, at in map(one, ended)]
    return {"outcome": outcome(each), "ranks": [end for end, _ in each]}


def run_patiently(path, how, expected):
    """The same with ten times the limit where it was not what is expected: a machine may be slow."""
    ranks, own_python = how
    seen = run(path, ranks, own_python=own_python)
    return seen if seen["outcome"] in expected else run(path, ranks, 10 * SECONDS, own_python)


def run_fixed(names):
    """Runs what each fix that is offered makes of the wrong programs, and writes the outcomes; complains of those that do not end."""
    wrong = [each for each in programs(names) if each[0].endswith("wrong.py")]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as several:

        def mended(each):
            _, path, (ranks, own_python), _ = each
            seen = {}
            for title, (text, left) in fixed.texts(fixed.program(), path).items():
                copy = Path(folder, f"{path.parent.name}-{len(seen)}.py")
                copy.write_text(text)
                seen[fixed.key(path.parent.name, title)] = {"hash": fixed.text_hash(text), **run(copy, ranks, SECONDS_OF_FIXED, own_python), "left": left}
            return seen

        outcomes = {at: seen for each in several.map(mended, wrong) for at, seen in each.items()}
    before = json.loads(fixed.FIXED.read_text()) if fixed.FIXED.exists() and names else {}
    kept = {at: seen for at, seen in before.items() if at.split(":")[0] not in names}
    fixed.FIXED.write_text(written(kept | outcomes))
    bad = {at: seen for at, seen in outcomes.items() if seen["outcome"] != "success"}
    for at, seen in bad.items():
        print(f"{at}: {seen['outcome']}: {json.dumps(seen['ranks'])}" + (f", still found: {', '.join(seen['left'])}" if seen["left"] else ""))
    print(f"{len(outcomes)} fixes of {len(wrong)} wrong programs, {len(outcomes) - len(bad)} after which the program ends")
    return not any(not seen["left"] for seen in bad.values())


def text_hash(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def programs(names=()):
    """(key, file, (ranks, whether each has a Python of its own), what is expected) of each program."""
    bugs = json.loads(BUGS.read_text())
    for name, bug in sorted(bugs.items()):
        if names and name not in names:
            continue
        for file, expected in (("right.py", "success"), ("wrong.py", bug.get("outcome"))):
            expected = expected if isinstance(expected, list) else [expected]  # it may depend on who is first
            path = PROGRAMS / name / file
            if path.exists():
                yield f"{name}/{file}", path, (bug["ranks"], bug.get("own_python", False)), expected


def written(outcomes):
    return "{\n" + ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(outcomes.items())) + "\n}\n"


def main():
    version = oracles.chosen()
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--record", action="store_true")
    what.add_argument("--check", action="store_true")
    what.add_argument("--fixed", action="store_true")
    what.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    oracles.enter(oracles.FIRST if options.record or options.fixed else version)
    import torch.distributed
    torch.set_num_threads(1)
    if options.fixed:
        return int(not run_fixed(options.names))
    listed = list(programs(options.names))
    before = json.loads(OUTCOMES.read_text()) if OUTCOMES.exists() else {}
    outcomes, troubles = {}, 0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as several:
        for (key, path, ranks, expected), seen in zip(listed, several.map(lambda each: run_patiently(*each[1:]), listed)):
            outcomes[key] = {"hash": text_hash(path), **seen}
            if options.answer:
                continue
            recorded = before.get(key, {})
            if version == oracles.SECOND:
                expected = [recorded[oracles.SECOND]] if oracles.SECOND in recorded else expected
            if seen["outcome"] not in expected:
                troubles += 1
                print(f"{key}: expected {' or '.join(map(str, expected))}, and it was {seen['outcome']}: {json.dumps(seen['ranks'])}", flush=True)
            elif options.check and recorded.get("hash") != outcomes[key]["hash"]:
                troubles += 1
                print(f"{key}: not what is recorded", flush=True)
    if options.answer:
        print(json.dumps({key: seen["outcome"] for key, seen in outcomes.items()}))
        return 0
    if options.record:
        seconds = oracles.answers(oracles.SECOND, "--answer", *options.names) or {key: seen.get(oracles.SECOND, seen["outcome"]) for key, seen in before.items()}
        expected_of = {key: expected for key, _, _, expected in listed}
        for key, seen in outcomes.items():
            if seconds.get(key, seen["outcome"]) not in (seen["outcome"], *expected_of[key]):
                print(f"{key}: {seen['outcome']}; {oracles.SECOND}: {seconds[key]}")
                seen[oracles.SECOND] = seconds[key]
        kept = {key: value for key, value in before.items() if (PROGRAMS / key).exists()} if options.names else {}
        OUTCOMES.write_text(written(kept | outcomes))
    print(f"{len(listed)} programs, {troubles} complaints")
    return int(bool(troubles))


if __name__ == "__main__":
    sys.exit(main())
