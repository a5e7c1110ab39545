#!/usr/bin/env python3
"""Random programs of generate.py: what stepzero says of them against what simulate.py decides.

    tests/ranks/judge_generated.py [--stepzero PROGRAM] [--programs 300] [--seed 0]   fails on a false alarm
    tests/ranks/judge_generated.py --show SEED        one program, its verdict and what stepzero says
    tests/ranks/judge_generated.py --real 30          the verdicts against real gloo, in a world of two to four
    tests/ranks/judge_generated.py --missed           besides, the seeds of the wrong programs that are not found

A right program may get no error and no warning of the deadlock family. The share of the wrong ones that are found is printed.
"""

import argparse
import concurrent.futures
import sys
import tempfile
from collections import Counter
from pathlib import Path

import generate
import judge
import record
import simulate


def programs(count, first):
    """(seed, text, verdict) of the first programs that have a verdict."""
    seed, left_out = first, 0
    made = []
    while len(made) < count:
        text = generate.program(seed)
        decided, _ = simulate.verdict(text)
        if decided is None:
            left_out += 1
        else:
            made.append((seed, text, decided))
        seed += 1
    return made, left_out


def said_of(stepzero, made):
    """The findings of the deadlock family by seed."""
    with tempfile.TemporaryDirectory() as scratch:
        for seed, text, _ in made:
            Path(scratch, f"g{seed}.py").write_text(text)
        found = judge.checked(stepzero, ["."], scratch)
    return {int(Path(path).stem[1:]): findings for path, findings in found.items()}


def against_gloo(made):
    """How many programs real PyTorch ends as the simulation says; complains of the others."""
    right = [each for each in made if each[2] == "right"]
    wrong = [each for each in made if each[2] == "wrong"]
    mixed = [each for pair in zip(right, wrong) for each in pair][:len(made)]
    agreed = 0
    with tempfile.TemporaryDirectory() as scratch:

        def run(numbered):
            number, (seed, text, decided) = numbered
            path = Path(scratch, f"g{seed}.py")
            path.write_text(text)
            return seed, decided, 2 + number // 2 % 3, record.run(path, 2 + number // 2 % 3)

        with concurrent.futures.ThreadPoolExecutor(2) as two:
            for seed, decided, size, seen in two.map(run, enumerate(mixed)):
                fits = (seen["outcome"] == "success") == (decided == "right")
                agreed += fits
                if not fits or seen["outcome"] == "error":
                    print(f"seed {seed} with {size} ranks: {decided}, and gloo's outcome is {seen['outcome']}: {seen['ranks']}", flush=True)
    print(f"gloo agrees with the simulation on {agreed} of {len(mixed)} programs")
    return agreed == len(mixed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--stepzero")
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int)
    parser.add_argument("--real", type=int)
    parser.add_argument("--missed", action="store_true")
    options = parser.parse_args()
    if options.real:
        record.oracles.enter()
        return int(not against_gloo(balanced(options.real, options.seed)))
    stepzero = judge.stepzero_of(options.stepzero)
    if options.show is not None:
        text = generate.program(options.show)
        decided = simulate.verdict(text)
        print(*(f"{number:3} {line}" for number, line in enumerate(text.splitlines(), 1)), "", decided, sep="\n")
        made = [(options.show, text, decided[0])]
    else:
        made, left_out = programs(options.programs, options.seed)
    said = said_of(stepzero, made)
    verdicts, rules, alarms = Counter(), Counter(), 0
    alone, alone_found = Counter(), Counter()  # wrong programs in which one construct only is wrong
    proven = pointed = 0
    for seed, _, decided in made:
        verdicts[decided] += 1
        findings = [finding for finding in said.get(seed, []) if finding["severity"] in ("error", "warning")]
        if decided == "right":
            alarms += bool(findings)
        elif decided == "wrong":
            proven += any(finding["severity"] == "error" for finding in findings)
            pointed += bool(findings)
            rules.update({finding["rule"] for finding in findings})
            twins = generate.wrong_twins(seed)
            if len(twins) == 1:
                construct = twins.pop()
                alone[construct] += 1
                alone_found[construct] += bool(findings)
            if options.missed and not findings:
                print(f"missed: seed {seed}")
        if findings and (decided != "wrong" or options.show is not None):
            for finding in findings:
                print(f"{'alarm: ' if decided == 'right' else ''}seed {seed} line {finding['range']['start']['line']} "
                      f"{finding['severity']}[{finding['rule']}]: {finding['message']}")
    if options.show is None:
        wrong = max(verdicts["wrong"], 1)
        print(f"ranks-generated: {verdicts['right']} right programs, {alarms} with a false alarm; {verdicts['wrong']} wrong ones, "
              f"{proven} proven ({100 * proven / wrong:.0f} %), {pointed} with a finding ({100 * pointed / wrong:.0f} %); "
              f"{left_out} without a verdict")
        print("  where one construct is wrong:",
              ", ".join(f"{name} {alone_found[name]} of {count}" for name, count in sorted(alone.items())))
        print("  by rule:", ", ".join(f"{rule} {count}" for rule, count in rules.most_common()) or "none")
    return int(alarms > 0)


def balanced(count, first):
    """As many right programs as wrong ones."""
    made, _ = programs(6 * count, first)
    return [each for kind in ("right", "wrong") for each in [one for one in made if one[2] == kind][:count // 2]]


if __name__ == "__main__":
    sys.exit(main())
