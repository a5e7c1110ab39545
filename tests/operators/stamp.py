"""Whether the facts have to be asked for again: facts/recorded.json says, per oracle, with which versions they were recorded, and holds a
hash of the recorder's text and of the facts as they were then. Where all of that is as it was, the answers would be the same."""

import hashlib
import importlib.metadata
import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
FACTS = HERE / "facts"
STAMPS = FACTS / "recorded.json"
RECORDER = ("record.py", "modules.py", "writing.py", "written.txt")
ASKED = ("torch", "numpy", "scipy", "opt_einsum")  # PyTorch, and what its databases take their samples from where it is there


def versions():
    found = {}
    for name in ASKED:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def stamp(of_older):
    """Of the facts of the first oracle; of the second, which answers the same calls, also of what it answers otherwise."""
    made = hashlib.sha256()
    for file in [HERE / name for name in RECORDER] + [each for each in sorted(FACTS.glob("*.t*")) if of_older or each.name != "older.tsv"]:
        made.update(file.name.encode() + b"\0" + file.read_bytes())
    return {"versions": versions(), "hash": made.hexdigest()}


def stamps():
    return json.loads(STAMPS.read_text()) if STAMPS.exists() else {}


def unchanged(version, of_older):
    return stamps().get(version) == stamp(of_older)


def write(version, of_older):
    """Nothing, where other versions gave the same answers: which ones a machine has is no change of the facts."""
    if stamps().get(version, {}).get("hash") == stamp(of_older)["hash"]:
        return
    STAMPS.write_text(json.dumps({**stamps(), version: stamp(of_older)}, indent=1) + "\n")
