"""Incremental equals cold: after any edits, what the server publishes equals what a new one says of the same text; and
edits taken back lead to the start."""

import random

import pytest

import programs
from client import CAPABILITIES
from text import Text

URI = "untitled:train.py"
ENCODINGS = ["utf-8", "utf-16", "utf-32"]
# What people and tools put into programs; some of it is only half of something.
PIECES = [
    "", " ", "\n", "\n\n", "    ", "\t", "\r\n", "\r", "x", "=", "(", ")", "[", "]", "{", "}", ":", ",", ".", "#", '"', "'", '"""', "\\",
    "🙂", "模型", "e\u0301", "\u2028", "0", "3", "-1", "128", "@", "*", "**", "def f(x):\n    return x\n", "class C:\n    pass\n", "if x:\n",
    "else:\n", "    return x\n", "for i in range(3):\n    ", "import torch\n", "from torch import nn\n", "self.", "torch.zeros(2, 3)",
    " @ torch.zeros(4, 5)", ".view(-1, 7)", ".transpose(0, 1)", "nn.Linear(3, 4)(x)", "dist.barrier()\n", "loss.backward()\n",
    "# stepzero: ignore[shape]\n", "with torch.no_grad():\n    ", "lambda: ", "async ", "await ", "yield ", "try:\n    ", "except:\n    pass\n",
]


def cold(start, text, encoding):
    client = start()
    client.initialize(with_encoding(encoding))
    client.open(URI, text)
    found = client.diagnostics(URI, 1)
    hints = client.call("textDocument/inlayHint", {"textDocument": {"uri": URI}, "range": Text(text, encoding).range(0, len(text))})
    assert client.shut_down() == 0
    return found, hints


def with_encoding(encoding):
    return {**CAPABILITIES, "general": {"positionEncodings": [encoding]}}


class Session:
    """A server with one document that is edited at random."""

    def __init__(self, start, seed, encoding, dice):
        self.client = start()
        self.client.initialize(with_encoding(encoding))
        self.text = Text(seed, encoding)
        self.dice = dice
        self.version = 1
        self.client.open(URI, seed)
        self.undo = []

    def edit(self):
        """One message with one to three changes."""
        changes = []
        for _ in range(self.dice.choice([1, 1, 1, 2, 3])):
            begin = self.place()
            end = min(len(self.text.text), begin + self.dice.choice([0, 0, 0, 1, 1, 2, 5, 20, 120]))
            new = self.dice.choice(PIECES)
            self.undo.append((begin, begin + len(new), self.text.text[begin:end]))
            changes.append(self.replace(begin, end, new))
        self.send(changes)

    def place(self):
        text = self.text.text
        if self.dice.random() < 0.5:
            return self.dice.randrange(len(text) + 1)
        lines = [i for i, c in enumerate(text) if c == "\n"] or [0]  # people type at the ends of lines
        return self.dice.choice(lines)

    def replace(self, begin, end, new):
        """The change; a position between CR and LF has no name in the protocol, so the whole line end is replaced then."""
        if self.cuts_line_end(begin):
            begin, new = begin - 1, "\r" + new
        if self.cuts_line_end(end):
            end, new = end + 1, new + "\n"
        return self.text.replace(begin, end, new)

    def cuts_line_end(self, offset):
        return self.text.text[max(0, offset - 1):offset + 1] == "\r\n" and offset > 0

    def take_back(self):
        for begin, end, old in reversed(self.undo):
            self.send([self.replace(begin, end, old)])
        self.undo = []

    def send(self, changes):
        self.version += 1
        self.client.change(URI, self.version, *changes)

    def state(self):
        found = self.client.diagnostics(URI, self.version)
        hints = self.client.call("textDocument/inlayHint",
                                 {"textDocument": {"uri": URI}, "range": self.text.range(0, len(self.text.text))})
        return found, hints


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("seed", programs.SEEDS)
@pytest.mark.parametrize("turn", range(3))
def test_random_edits_equal_a_cold_run_and_undo_equals_the_start(start, seed, encoding, turn):
    dice = random.Random(f"{seed} {encoding} {turn}")
    session = Session(start, programs.SEEDS[seed], encoding, dice)
    first = session.state()
    assert first == cold(start, session.text.text, encoding)
    for _ in range(4):
        for _ in range(dice.choice([1, 5, 25])):
            session.edit()
            if dice.random() < 0.3:
                session.client.idle()  # sometimes the analysis comes to its end between two edits
        assert session.state() == cold(start, session.text.text, encoding), repr(session.text.text)
    session.take_back()
    assert session.text.text == programs.SEEDS[seed]
    assert session.state() == first


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_edits_of_an_imported_file_equal_a_cold_run(start, tmp_path, encoding):
    """The edited file is read by another open one; both are compared."""
    library = "import torch\n\n\ndef weights():\n    return torch.zeros({}, 5)\n\n\nclass Größe:\n    n = {}\n"
    user = "import torch\nfrom library import weights, Größe\n\nx = torch.zeros(2, 3)\ny = x @ weights()\nz = torch.zeros(2, 3) @ torch.zeros(Größe.n, 2)\n"
    (tmp_path / "library.py").write_text(library.format(3, 3), encoding="utf-8")
    (tmp_path / "user.py").write_text(user, encoding="utf-8")
    uris = [(tmp_path / name).as_uri() for name in ("library.py", "user.py")]
    roots = {"rootUri": tmp_path.as_uri(), "workspaceFolders": [{"uri": tmp_path.as_uri(), "name": "w"}]}

    def fresh(texts):
        client = start()
        client.initialize(with_encoding(encoding), **roots)
        for uri, text in zip(uris, texts):
            client.open(uri, text)
        return [client.diagnostics(uri, 1) for uri in uris]

    client = start()
    client.initialize(with_encoding(encoding), **roots)
    texts = [Text(library.format(3, 3), encoding), Text(user, encoding)]
    for uri, text in zip(uris, texts):
        client.open(uri, text.text)
    assert [d["code"] for d in client.diagnostics(uris[1])] == []
    seen = set()
    for turn, (rows, n) in enumerate([(4, 3), (3, 4), (4, 4), (7, 3), (3, 3)]):
        new = library.format(rows, n)
        client.change(uris[0], turn + 2, texts[0].replace(0, len(texts[0].text), new))
        now = [client.diagnostics(uri) for uri in uris]
        assert now == fresh([new, user])
        seen.add(len(now[1]))
    assert seen >= {0, 1, 2}
    client.close(uris[0])  # the file on the disk counts again
    assert client.diagnostics(uris[1]) == []
