#!/usr/bin/env python3
"""Records what training steps of transformers' models take (record.py says how): tests/footprint/record_packages.py [PATTERN…] writes
facts_transformers.json, with the versions that it was asked of."""

import fnmatch
import importlib.metadata
import json
import sys

import record


def main():
    record.oracles.enter(record.oracles.FIRST)
    # Folders of tests that are called like packages are none.
    sys.path[:] = [each for each in sys.path if each != str(record.HERE.parent)]
    patterns, old = sys.argv[1:], record.HERE / "facts_transformers.json"
    programs = json.loads(old.read_text())["programs"] if patterns and old.exists() else {}
    for path in sorted((record.HERE / "transformers").glob("*.py")):
        if patterns and not any(fnmatch.fnmatch(path.stem, each) for each in patterns):
            continue
        programs[path.stem] = record.run(path.read_text())
        print(path.stem, programs[path.stem], flush=True)
    versions = {name: importlib.metadata.version(name) for name in ("torch", "transformers")}
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(fact)}" for name, fact in sorted(programs.items()))
    (record.HERE / "facts_transformers.json").write_text(json.dumps(versions)[:-1] + ', "programs": {\n' + lines + "\n}}\n")


if __name__ == "__main__":
    main()
