"""Nothing that a client or a file can contain stops the program. Each case goes both ways: through `stepzero check` from
the disk and through the language server; each has a time limit, and what is right beside it is still found.
Malformed messages are in test_json_rpc.py, broken frames in test_framing.py, changes out of range in test_documents.py."""

import json
import os
import random
import subprocess

import pytest

import programs
from client import METHOD_NOT_FOUND, PROGRAM, SCALE

SECONDS = 10 * SCALE  # for one bad file

URI = "untitled:train.py"
N = 10_000


def check(folder, *paths, seconds=SECONDS):
    """Runs `stepzero check`; returns its status and the rules found by path."""
    run = subprocess.run([PROGRAM, "check", "--format", "json", *(paths or ["."])], cwd=folder, capture_output=True, timeout=seconds)
    assert run.returncode in (0, 1, 2), f"ended with {run.returncode}: {run.stderr[-3000:].decode(errors='replace')}"
    assert b"Sanitizer" not in run.stderr, run.stderr[-6000:].decode(errors="replace")
    found = {}
    for diagnostic in json.loads(run.stdout)["diagnostics"] if run.stdout else []:
        found.setdefault(os.path.normpath(diagnostic["path"]), []).append(diagnostic["rule"])
    return run.returncode, found


def survives(client, text, seconds=SECONDS):
    """Opens a text, waits for its diagnostics, edits at its begin and end, and asks something else."""
    client.open(URI, text)
    client.idle(seconds)
    assert client.published(URI)[-1].get("version") == 1
    client.change(URI, 2, ({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}, ""))
    end = {"line": 2**31 - 1, "character": 0}
    client.change(URI, 3, ({"start": end, "end": end}, "\nx = 1\n"))
    client.idle(2 * seconds)
    assert client.published(URI)[-1].get("version") == 3
    for method, params in (("documentSymbol", {}), ("hover", {"position": {"line": 0, "character": 3}}),
                           ("inlayHint", {"range": {"start": {"line": 0, "character": 0}, "end": end}}),
                           ("foldingRange", {}), ("codeAction", {"range": {"start": end, "end": end}, "context": {"diagnostics": []}})):
        client.reply(client.request(f"textDocument/{method}", {"textDocument": {"uri": URI}, **params}), seconds)
    client.change(URI, 4, programs.MATMUL)
    assert [d["code"] for d in client.diagnostics(URI, 4)] == [programs.MATMUL_RULE]
    assert client.error("stepzero/none")["code"] == METHOD_NOT_FOUND


NESTED = {
    "brackets": "x = " + "[" * N + "]" * N,
    "brackets that stay open": "x = " + "[" * N,
    "brackets that close only": "]" * N,
    "parentheses": "x = " + "(" * N + "1" + ")" * N,
    "braces": "x = " + "{" * N + "}" * N,
    "dictionaries": "x = " + "{1:" * N + "2" + "}" * N,
    "all kinds, mixed up": "x = " + "([{" * (N // 3) + ")]}" * (N // 3),
    "calls": "x = " + "f(" * N + "1" + ")" * N,
    "calls of calls": "x = f" + "()" * N,
    "subscripts": "x = a" + "[0]" * N,
    "subscripts in subscripts": "x = " + "a[" * N + "0" + "]" * N,
    "attributes": "x = a" + ".b" * N,
    "methods": "import torch\nx = torch.zeros(3)" + ".relu()" * N,
    "sum": "x = 1" + " + 1" * N,
    "power": "x = 2" + " ** 2" * N,
    "minus signs": "x = " + "-" * N + "1",
    "not": "x = " + "not " * N + "True",
    "await": "async def f():\n    x = " + "await " * N + "g",
    "and": "x = a" + " and a" * N,
    "and or": "x = a" + " and a or b" * N,
    "comparisons": "x = a" + " < a" * N,
    "conditionals": "x = a" + " if b else a" * N,
    "lambdas": "x = " + "lambda: " * N + "1",
    "lambda defaults": "x = " + "lambda a=" * N + "1" + ": a" * N,
    "comprehensions": "x = " + "[" * 300 + "i" + " for i in y]" * 300,
    "generators of one": "x = [i" + " for i in y" * N + "]",
    "f-strings": "x = " + 'f"{' * 200 + "1" + '}"' * 200,
    "braces of an f-string": 'x = f"' + "{{" * N + "}}" * N + '"',
    "open braces of an f-string": 'x = f"' + "{" * N + '"',
    "strings side by side": "x = " + '"a" ' * N,
    "stars": "f(" + "*" * N + "a)",
    "starred assignment": "(" * N + "a" + ",)" * N + " = x",
    "chained assignment": "a = " * N + "1",
    "decorators": "@d\n" * N + "def f(): pass",
    "elif": "if a:\n    pass\n" + "elif b:\n    pass\n" * N,
    "else if": "".join("    " * min(i, 90) + "if a:\n" for i in range(90)) + "    " * 90 + "pass\n",
    "indented functions": "".join(" " * i + f"def f{i}():\n" for i in range(1000)) + " " * 1000 + "pass\n",
    "indented classes": "".join(" " * i + f"class C{i}:\n" for i in range(1000)) + " " * 1000 + "pass\n",
    "indented with": "".join(" " * i + "with a:\n" for i in range(1000)) + " " * 1000 + "pass\n",
    "indented try": "".join(" " * i + "try:\n" for i in range(1000)) + " " * 1000 + "pass\n",
    "indented loops": "".join(" " * i + f"for i{i} in range(9):\n" for i in range(1000)) + " " * 1000 + "x = 1\n",
    "indented match": "".join(" " * i + ("match a:\n" if i % 2 == 0 else "case b:\n") for i in range(1000)) + " " * 1000 + "pass\n",
    "patterns": "match a:\n  case " + "[" * N + "]" * N + ":\n    pass",
    "annotations": "x: " + "List[" * N + "int" + "]" * N,
    "dotted import": "import a" + ".a" * N,
    "relative import": "from " + "." * N + " import a",
    "semicolons": "x = 1;" * N,
    "backslashes": "\\\n" * N + "x = 1",
    "sequential": "import torch.nn as nn\nx = " + "nn.Sequential(" * N + ")" * N,
}


@pytest.mark.parametrize("case", NESTED)
def test_ten_thousand_nested(lsp, tmp_path, case):
    text = NESTED[case]
    (tmp_path / "nested.py").write_text(text + "\n" + programs.MATMUL)
    (tmp_path / "bug.py").write_text(programs.MATMUL)
    assert check(tmp_path)[1]["bug.py"] == [programs.MATMUL_RULE]
    survives(lsp, text)


RANDOM = random.Random(7)
RAW = {
    "empty": b"",
    "one NUL": b"\0",
    "NUL bytes": b"\0" * N,
    "NUL in code": programs.MATMUL.encode().replace(b"a @ b", b"a\0 @ b"),
    "random bytes": RANDOM.randbytes(300_000),
    "an ELF file": open("/bin/true", "rb").read(),
    "0xff": b"\xff" * N,
    "cut UTF-8": "x = '模".encode()[:-1] + b"'\n" + programs.MATMUL.encode(),
    "overlong UTF-8": b"x = '\xc0\xaf \xe0\x80\xaf \xf0\x80\x80\xaf'\n" + programs.MATMUL.encode(),
    "surrogates as UTF-8": b"x = '\xed\xa0\x80 \xed\xb0\x80'\n" + programs.MATMUL.encode(),
    "beyond Unicode": b"x = '\xf4\x90\x80\x80 \xf8\x88\x80\x80\x80'\n" + programs.MATMUL.encode(),
    "Latin-1": "x = 'Größe'\n".encode("latin-1") + programs.MATMUL.encode(),
    "UTF-16": programs.MATMUL.encode("utf-16"),
    "UTF-32": programs.MATMUL.encode("utf-32"),
    "BOM": b"\xef\xbb\xbf" + programs.MATMUL.encode(),
    "BOM alone": b"\xef\xbb\xbf",
    "CRLF": programs.MATMUL.replace("\n", "\r\n").encode(),
    "CR": programs.MATMUL.replace("\n", "\r").encode(),
    "mixed line ends": programs.MATMUL.replace("\n", "\r\n", 2).replace("torch.zeros(4", "torch.zeros(\r4").encode(),
    "CR CR LF": programs.MATMUL.replace("\n", "\r\r\n").encode(),
    "form feeds": programs.MATMUL.replace("\n", "\f\n").encode(),
    "line separators": programs.MATMUL.replace("\n", "\u2028\n").encode(),
    "only line ends": b"\n" * 1_000_000,
    "only spaces": b" " * 1_000_000,
    "only tabs and ends": b"\t\n" * 300_000,
    "one long line": b"x = '" + b"a" * 5_000_000 + b"'\n" + programs.MATMUL.encode(),
    "one long name": b"a" * 1_000_000 + b" = 1\n" + programs.MATMUL.encode(),
    "one long number": b"x = " + b"9" * 1_000_000 + b"\n" + programs.MATMUL.encode(),
    "open string": programs.MATMUL.encode() + b'x = """' + b"text\n" * 50_000,
    "a comment of a megabyte": b"# " + b"\xf0\x9f\x99\x82" * 250_000 + b"\n" + programs.MATMUL.encode(),
    "directives": b"# stepzero: ignore[" * 20_000 + b"\n" + b"x = 1  # stepzero: ignore[,,,[]\n" * 1000,
    "tabs and spaces": b"if a:\n\tx = 1\n        y = 2\n    z = 3\n  w = 4\n\t\tv = 5\n" * 500,
}
# Whatever else is in them, the finding stands in these.
STILL_FOUND = {"BOM", "CRLF", "CR", "one long line", "one long name", "one long number", "a comment of a megabyte", "open string",
               "overlong UTF-8", "surrogates as UTF-8", "beyond Unicode", "Latin-1", "form feeds"}


@pytest.mark.parametrize("case", RAW)
def test_bytes_that_are_no_program(lsp, tmp_path, case):
    (tmp_path / "raw.py").write_bytes(RAW[case])
    (tmp_path / "bug.py").write_text(programs.MATMUL)
    _, found = check(tmp_path)
    assert found["bug.py"] == [programs.MATMUL_RULE]
    if case in STILL_FOUND:
        assert programs.MATMUL_RULE in found.get("raw.py", [])
    survives(lsp, RAW[case].decode("utf-8", "replace"))


def test_half_typed_code(lsp):
    """Every program is typed from its first character to its last, some characters at a time."""
    version = 1
    lsp.open(URI, "")
    for seed in programs.SEEDS.values():
        for end in range(0, len(seed), 7):
            version += 1
            lsp.change(URI, version, seed[:end])
            if end % 35 == 0:
                lsp.idle(SECONDS)
        version += 1
        lsp.change(URI, version, "")
    lsp.change(URI, version + 1, programs.MATMUL)
    assert [d["code"] for d in lsp.diagnostics(URI, version + 1)] == [programs.MATMUL_RULE]


def test_half_typed_files(tmp_path):
    count = 0
    for seed in programs.SEEDS.values():
        for end in range(3, len(seed), 11):
            (tmp_path / f"half{count}.py").write_text(seed[:end])
            count += 1
    (tmp_path / "bug.py").write_text(programs.MATMUL)
    assert check(tmp_path, seconds=60 * SCALE)[1]["bug.py"] == [programs.MATMUL_RULE]


def test_programs_with_characters_taken_out(lsp):
    dice = random.Random(11)
    lsp.open(URI, "")
    version = 1
    for seed in programs.SEEDS.values():
        for _ in range(30):
            letters = list(seed)
            for _ in range(dice.randrange(1, 12)):
                del letters[dice.randrange(len(letters))]
            version += 1
            lsp.change(URI, version, "".join(letters))
            lsp.idle(SECONDS)
    assert lsp.published(URI)[-1]["version"] == version


BIG = 50_000_000


@pytest.mark.parametrize("line", ["x = torch.zeros(2, 3) @ torch.zeros(4, 5)\n", "# a comment as they come in generated files\n",
                                  "[", "'" + "a" * 999 + "',\n"], ids=["code", "comments", "brackets", "data"])
def test_a_file_of_50_mb(lsp, tmp_path, line):
    text = "import torch\n" + line * (BIG // len(line))
    (tmp_path / "big.py").write_text(text)
    (tmp_path / "bug.py").write_text(programs.MATMUL)
    (tmp_path / "user.py").write_text("import big\n" + programs.MATMUL)
    _, found = check(tmp_path, seconds=60 * SCALE)
    assert found["bug.py"] == [programs.MATMUL_RULE] and found["user.py"] == [programs.MATMUL_RULE]
    lsp.open("untitled:small.py", programs.MATMUL)
    survives(lsp, text, 30 * SCALE)
    assert [d["code"] for d in lsp.diagnostics("untitled:small.py", 1)] == [programs.MATMUL_RULE]


ENDLESS = {
    "a loop": "while True:\n    x = torch.zeros(2)\n",
    "a loop that grows a list": "x = []\nwhile True:\n    x.append(x)\n",
    "a loop that grows a tensor": "x = torch.zeros(2)\nwhile True:\n    x = torch.cat([x, x])\n",
    "a loop that grows a text": "x = 'ab'\nwhile True:\n    x = x + x\n",
    "a loop that adds tuples": "x = (1,)\nwhile True:\n    x = x + x\n",
    "a loop that extends a list": "x = [1]\nwhile True:\n    x.extend(x)\n    x += x\n    x = x + x\n",
    "a loop that replaces in a text": "x = 'a'\nwhile True:\n    x = x.replace('a', 'aa')\n    x = x.join([x, x])\n    x = f'{x}{x}'\n    x = '%s%s' % (x, x)\n",
    "a loop that grows a number": "x = 2\nwhile True:\n    x = x * x\n",
    "a loop that grows a tuple": "x = (1,)\nfor i in range(1000000):\n    x = (x, x)\n",
    "a loop that grows a shape": "x = torch.zeros(1)\nfor i in range(1000000):\n    x = x.unsqueeze(0)\n",
    "a loop that grows an expression": "def f(n, m):\n    x = n\n    for i in range(100000):\n        x = (x + m) * (x - n) // (x + 1)\n    return torch.zeros(x)\n",
    "a huge range": "for i in range(10**18):\n    x = torch.zeros(i)\n",
    "a huge list": "x = [0] * 10**12\n",
    "a huge text": "x = 'a' * 10**12\n",
    "a huge power": "x = 10 ** 10 ** 10\ny = 2 ** 2 ** 100\n",
    "a huge shift": "x = 1 << 10**12\n",
    "a huge tensor": "x = torch.zeros(10**12, 10**12, 10**12)\ny = x.view(-1)\nz = x.numel()\n",
    "a huge negative": "x = torch.zeros(-2**63)\ny = torch.zeros(2**63 - 1) + torch.zeros(2**63)\nz = -(-2**63)\nw = -2**63 // -1\nv = -2**63 % -1\n",
    "a division by nothing": "x = 1 // 0\ny = 1 % 0\nz = torch.zeros(3 // (2 - 2))\nw = 0 ** -1\n",
    "a huge comprehension": "x = [torch.zeros(i, j) for i in range(10**9) for j in range(10**9)]\n",
    "a huge module list": "x = torch.nn.ModuleList([torch.nn.Linear(2, 2) for _ in range(10**9)])\n",
    "a function that calls itself": "def f(x):\n    return f(x)\nf(torch.zeros(2))\n",
    "a function that calls itself twice": "def f(x):\n    return f(x + 1) + f(x + 2)\nf(1)\n",
    "a function that grows what it gives itself": "def f(*x):\n    return f(*x, x)\nf(1)\n",
    "a tuple in a tuple, sixteen times at each level": "a = (torch.zeros(2),) * 16\n" + "a = (a,) * 16\n" * 6 + "torch.save({'a': a}, 'a.pt')\nb = torch.stack(a)\nc = torch.tensor(a)\nprint(a == (a,), sorted(a), sum(a, ()))\nfor x in torch.utils.data.DataLoader(a):\n    a = (a, x)\n",
    "a list in a list, sixteen times at each level": "a = [torch.zeros(2)] * 16\n" + "a = [a] * 16\n" * 6 + "torch.save({'a': a}, 'a.pt')\nb = torch.stack(a)\nc = torch.tensor(a)\nprint(a == [a], sorted(a), sum(a, []))\nfor x in torch.utils.data.DataLoader(a):\n    a = [a, x]\n",
    "functions that call each other": "def f(x):\n    return g(x)\ndef g(x):\n    return f(x)\nf(1)\n",
    "Fibonacci": "def f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\nx = torch.zeros(f(60))\n",
    "Ackermann": "def a(m, n):\n    return n + 1 if m == 0 else (a(m - 1, 1) if n == 0 else a(m - 1, a(m, n - 1)))\nx = torch.zeros(a(4, 2))\n",
    "calls that double at each level": "".join(f"def f{i}(x):\n    return f{i+1}(x) + f{i+1}(x + 1)\n" for i in range(60)) + "def f60(x):\n    return x\nf0(1)\n",
    "branches that double at each line": "def f(*a):\n    x = 0\n" + "".join(f"    if a[{i}]:\n        x = x * 2 + {i}\n" for i in range(300)) + "    return torch.zeros(x)\n",
    "a lambda that calls itself": "f = lambda x: f(x)\nf(1)\n",
    "the fixed point combinator": "y = lambda f: (lambda x: x(x))(lambda x: f(lambda *a: x(x)(*a)))\ny(lambda f: lambda n: f(n))(1)\n",
    "a generator": "def g():\n    n = 0\n    while True:\n        yield torch.zeros(n)\n        n += 1\nx = list(g())\ny = [*g()]\nz = sum(1 for _ in g())\n",
    "a generator of itself": "def g():\n    yield from g()\nlist(g())\n",
    "a list that holds itself": "x = []\nx.append(x)\nprint(x)\ny = x == x\nz = torch.tensor(x)\nw = torch.cat(x)\n",
    "a dictionary that holds itself": "x = {}\nx['x'] = x\nx.update(x)\ny = {**x, **x}\nz = torch.nn.ModuleDict(x)\n",
    "a module that holds itself": "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.m = self\n    def forward(self, x):\n        return self.m(x)\nM()(torch.zeros(2))\nM().parameters()\nM().state_dict()\nM().cuda()\n",
    "a module made of itself": "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.m = M()\n    def forward(self, x):\n        return self.m(x)\nM()(torch.zeros(2))\n",
    "a class that inherits itself": "class A(A):\n    pass\nA()\nclass B(C):\n    pass\nclass C(B):\n    pass\nB().x\nC().x\n",
    "a class that is rebound": "class A:\n    pass\nfor i in range(3):\n    class A(A):\n        def f(self):\n            return super().f()\nA().f()\n",
    "a class of no order": "class A: pass\nclass B(A): pass\nclass C(A, B): pass\nC().f()\n",
    "classes that double at each level": "class A0: pass\n" + "".join(f"class L{i}(A{i}): pass\nclass R{i}(A{i}): pass\nclass A{i+1}(L{i}, R{i}): pass\n" for i in range(60)) + "A60().f()\n",
    "a property that reads itself": "class A:\n    @property\n    def x(self):\n        return self.x\nA().x\n",
    "an attribute hook that reads itself": "class A:\n    def __getattr__(self, name):\n        return getattr(self, name)\n    def __call__(self, *a):\n        return self(*a)\n    def __iter__(self):\n        return iter(self)\n    def __len__(self):\n        return len(self)\nA().x\nA()(1)\nlist(A())\nlen(A())\n",
    "a decorator that decorates itself": "def d(f):\n    return d(f)\n@d\n@d\ndef g(): pass\ng()\n",
    "a wrapper that wraps itself": "import functools\ndef f(*a):\n    return functools.partial(f, *a, *a)(*a)\nf(1)\n",
    "a default that is the function": "def f(x=lambda: f()):\n    return x()\nf()\n",
    "a name that means itself": "x = x\nfrom train import x\nimport train\ntrain.train.train.x\nglobal x\ndel x\nx = x.x(x)[x]\n",
    "exceptions that never end": "def f():\n    try:\n        return f()\n    except Exception:\n        return f()\n    finally:\n        f()\nf()\n",
    "break outside a loop": "break\ncontinue\nreturn\nyield\nawait x\nnonlocal y\n",
    "a global in the wrong place": "def f():\n    x = 1\n    global x\n    nonlocal x\n    x = 2\nf()\n",
    "arguments that do not fit": "def f(a, /, b, *, c): pass\nf()\nf(1, 2, 3, 4)\nf(a=1, b=1, b=2, c=3, **{'c': 4})\nf(*range(10**9))\ndef g(a, a, *, *, **k, b): pass\ng(1)\n",
    "calls of torch with everything wrong": "".join(f"torch.{f}({a})\n" for f in ("zeros", "cat", "stack", "einsum", "view_as_real", "reshape", "matmul", "split", "chunk", "where", "arange", "linspace", "nn.Linear", "nn.Conv2d", "nn.MultiheadAttention", "nn.Sequential", "nn.functional.pad", "nn.functional.interpolate", "distributed.all_reduce", "distributed.new_group", "optim.Adam", "utils.data.DataLoader") for a in ("", "None", "-1", "10**30", "'x'", "[]", "[[]]", "()", "{}", "*[]", "**{}", "x=1", "torch", "lambda: 1", "...", "1.5, 2.5", "[torch.zeros(2)], dim=10**20", "torch.zeros(2), -10**20, -10**20", "'ij,jk->', torch.zeros(2)", "'...', '...'", "'->'", "True, False", "range(10**15)", "torch.zeros(0), torch.zeros(0, 0)")),
    "ranks and groups without end": "import torch.distributed as dist\nwhile True:\n    if dist.get_rank() % 2:\n        dist.send(torch.zeros(dist.get_rank()), dist.get_rank() + 1)\n    dist.new_group([dist.new_group(range(10**12))])\n",
}


@pytest.mark.parametrize("case", ENDLESS)
def test_programs_that_never_end(lsp, tmp_path, case):
    """The budget is counted in steps: the run ends, with less known. The neighbour is not touched by it."""
    text = "import torch\n" + ENDLESS[case]
    (tmp_path / "train.py").write_text(text)
    (tmp_path / "bug.py").write_text(programs.MATMUL)
    assert check(tmp_path)[1]["bug.py"] == [programs.MATMUL_RULE]
    survives(lsp, text)


def test_import_cycles(lsp, tmp_path):
    files = {
        "a.py": "import b\nfrom b import *\nfrom b import x\nimport a\nx = x + b.x\n" + programs.MATMUL,
        "b.py": "import a\nfrom a import *\nfrom c import y\nx = a.x\ny = y\n",
        "c.py": "from a import x as y\nfrom b import y as z\nfrom c import *\nimport c as d\nd.d.d.d\n",
        "p/__init__.py": "from . import q\nfrom .q import *\nfrom p import p\nfrom .. import a\n",
        "p/q.py": "from . import *\nfrom .q import q\nfrom .. import p\nfrom ... import x\nimport p.q.p.q\n",
    }
    for i in range(300):  # a ring of 300 modules, each with a class made of the next one's
        files[f"ring{i}.py"] = (f"import torch.nn as nn\nfrom ring{(i + 1) % 300} import C{(i + 1) % 300}\n"
                                f"class C{i}(C{(i + 1) % 300}):\n    def forward(self, x):\n        return C{(i + 1) % 300}()(x)\n")
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    _, found = check(tmp_path, seconds=30 * SCALE)
    assert programs.MATMUL_RULE in found["a.py"]
    for name in ("a.py", "b.py", "c.py", "p/__init__.py", "p/q.py", "ring0.py", "ring299.py"):
        lsp.open((tmp_path / name).as_uri(), files[name])
    lsp.idle(30 * SCALE)
    for name in ("b.py", "ring7.py", "p/q.py"):
        lsp.open((tmp_path / name).as_uri(), files[name] + "\nx = 2\n", version=9)
        lsp.idle(30 * SCALE)
    lsp._take(lambda m: m.get("method") == "window/showMessage")
    assert programs.MATMUL_RULE in [d["code"] for d in lsp.diagnostics((tmp_path / "a.py").as_uri())]


def test_symlink_loops_and_strange_files(start, tmp_path):
    """Folders that contain themselves, links to nowhere, pipes that nobody writes, devices, folders named like files."""
    (tmp_path / "bug.py").write_text(programs.MATMUL)
    package = tmp_path / "package"
    package.mkdir()
    (package / "inside.py").write_text("import package.self.self.inside\nfrom . import pipe, zero, nowhere, self\n" + programs.MATMUL)
    (package / "self").symlink_to(package, target_is_directory=True)
    (package / "up").symlink_to("..", target_is_directory=True)
    (tmp_path / "first").symlink_to("second")
    (tmp_path / "second").symlink_to("first")
    (package / "me.py").symlink_to("me.py")
    (package / "nowhere.py").symlink_to("/never/there.py")
    (package / "zero.py").symlink_to("/dev/zero")
    (package / "random.py").symlink_to("/dev/urandom")
    (package / "folder.py").mkdir()
    os.mkfifo(package / "pipe.py")
    os.mkfifo(tmp_path / "pyproject.toml")
    (tmp_path / "stepzero.toml").symlink_to("stepzero.toml")
    (package / os.fsdecode(b"broken\xff\xfe.py")).write_text(programs.MATMUL)
    (package / "new\nline.py").write_text(programs.MATMUL)
    (package / ".gitignore").mkdir()
    _, found = check(tmp_path)
    assert found["bug.py"] == [programs.MATMUL_RULE]
    assert found["package/inside.py"] == [programs.MATMUL_RULE]
    client = start()
    client.initialize(rootUri=tmp_path.as_uri(), workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "w"}])
    uri = (package / "inside.py").as_uri()
    client.open(uri, (package / "inside.py").read_text())
    assert [d["code"] for d in client.diagnostics(uri, 1)] == [programs.MATMUL_RULE]
    while client._take(lambda m: m.get("method") == "window/showMessage"):
        pass


def test_a_folder_a_thousand_deep(tmp_path):
    here = os.open(tmp_path, os.O_RDONLY)
    (tmp_path / "bug.py").write_text(programs.MATMUL)
    for _ in range(1500):  # longer than PATH_MAX
        os.mkdir("deep", dir_fd=here)
        below = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    with os.fdopen(os.open("x.py", os.O_WRONLY | os.O_CREAT, dir_fd=here), "w") as file:
        file.write(programs.MATMUL)
    os.close(here)
    try:
        assert check(tmp_path)[1]["bug.py"] == [programs.MATMUL_RULE]
    finally:
        subprocess.run(["rm", "-rf", str(tmp_path / "deep")], check=True)  # too deep for Python's own


def test_paths_that_cannot_be_read_are_wrong_usage(tmp_path):
    for path in ("never.py", "/never/there", "", "\n"):
        assert check(tmp_path, path)[0] == 2


@pytest.mark.parametrize("text", [
    "", "=", "[tool", "[tool.stepzero]\nignore = 7\n", "[tool.stepzero]\nignore = [7, [], {}]\n", "tool = 7\n", "[tool]\nstepzero = 7\n",
    "[tool.stepzero]\nignore = ['\n", "\0", "\ufeff[tool.stepzero]\n", "[tool.stepzero]\n" + "a" * 100_000 + " = 1\n",
    "x = " + "[" * N, "x = " + "{a=" * N, "a" + ".a" * N + " = 1\n", "[tool.stepzero]\nsteps = 99999999999999999999\n",
    "[tool.stepzero.overrides]\n" * 2,
], ids=range(16))
def test_settings_that_are_none(start, tmp_path, text):
    (tmp_path / "pyproject.toml").write_text(text)
    (tmp_path / "bug.py").write_text(programs.MATMUL)
    assert check(tmp_path)[1].get("bug.py") == [programs.MATMUL_RULE]
    client = start()
    client.initialize(rootUri=tmp_path.as_uri(), workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "w"}])
    uri = (tmp_path / "bug.py").as_uri()
    client.open(uri, programs.MATMUL)
    assert [d["code"] for d in client.diagnostics(uri, 1)] == [programs.MATMUL_RULE]
    while client._take(lambda m: m.get("method") == "window/showMessage"):
        pass


def test_code_of_the_workspace_is_never_executed(start, tmp_path):
    marker = tmp_path / "executed"
    bomb = f"open({str(marker)!r}, 'w').close()\nimport os\nos.system('touch {marker}')\n"
    for name in ("train.py", "sitecustomize.py", "usercustomize.py", "conftest.py", "setup.py", "torch.py", "torch/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(bomb)
    (tmp_path / "bug.py").write_text("import train, setup\n" + bomb)
    check(tmp_path)
    client = start(cwd=tmp_path)
    client.initialize(rootUri=tmp_path.as_uri(), workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "w"}])
    client.open((tmp_path / "bug.py").as_uri(), "import train, setup\n" + bomb)
    client.idle()
    assert not marker.exists()
