"""The website as it is made: its links, and each program that it shows, which stepzero checks itself."""

import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("markdown", reason="no python3-markdown")
pytest.importorskip("pygments", reason="no python3-pygments")

SOURCE = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("STEPZERO", str(SOURCE / "build" / "stepzero"))
FENCE = re.compile(r"^```python([^\n]*)\n(.*?)^```", re.M | re.S)
# Rules of what a launch, a configuration and a program say together, and of a setting: no single text shows them.
OF_SEVERAL_FILES = {"config/effective-batch", "config/precision-mismatch", "config/torchtitan", "launch/code-mismatch", "launch/missing-file", "memory/too-large"}
TEXTS = [SOURCE / "documentation/home.md", *sorted((SOURCE / "documentation/guides").glob("*.md"))]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, SOURCE / "documentation/make-site", PROGRAM, folder], check=True, timeout=120)
    return folder


def rules():
    done = subprocess.run([PROGRAM, "rules", "--format", "json"], check=True, capture_output=True, text=True)
    return [rule["id"] for rule in json.loads(done.stdout)["rules"]]


def found(code, tmp_path, name="main.py"):
    """The rules of what is found in a file by itself, hints included."""
    (tmp_path / name).write_text(code)
    done = subprocess.run([PROGRAM, "check", "--format", "json", name], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1), done.stderr
    return {finding["rule"] for finding in json.loads(done.stdout)["diagnostics"]}


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
def test_each_program_of_a_guide_is_what_it_is_called(text, tmp_path):
    for info, code in FENCE.findall(text.read_text()):
        expected = re.search(r"finds=(\S+)", info)
        assert expected or "silent" in info.split(), f"{text.name}: a fence says neither finds= nor silent:\n{code}"
        got = found(code, tmp_path)
        assert (expected[1] in got) if expected else not got, f"{text.name}: {got or 'nothing'} found in\n{code}"


def test_each_rule_has_a_page_with_an_example_that_is_found(site, tmp_path):
    without = []
    for rule in rules():
        page = (site / "rules" / f"{rule}.html").read_text()
        example = re.search(r'<h2 id="example">.*?<p>stepzero marks the line(?: of <code>(.*?)</code>)?:</p>.*?<pre[^>]*><code>(.*?)</code></pre>', page, re.S)
        if not example:
            without.append(rule)
            continue
        assert 'class="marked"' in example[2], rule
        code = html.unescape(re.sub(r"<[^>]+>", "", example[2])) + "\n"
        assert found(code, tmp_path, example[1] or "main.py") == {rule}, f"{rule}: {code}"
    assert set(without) == OF_SEVERAL_FILES


def test_no_link_leads_nowhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text()
        for target in re.findall(r'(?:href|src)="([^"]+)"', text):
            path, _, anchor = target.partition("#")
            if re.match(r"https?:", target):
                continue
            file = page.parent / path if path else page
            assert file.is_file(), f"{page}: {target}"
            assert not anchor or f'id="{anchor}"' in file.read_text(), f"{page}: {target}"


def test_every_page_can_be_searched(site):
    index = json.loads((site / "index.js").read_text().removeprefix("window.pages = ").rstrip().rstrip(";"))
    assert {page["path"] for page in index} == {str(page.relative_to(site)) for page in site.rglob("*.html")}
    assert all(page["title"] for page in index)


def test_nothing_is_loaded_from_elsewhere(site):
    for page in site.rglob("*.html"):
        assert not re.search(r'<(?:script|link|img)[^>]*(?:src|href)="(?:https?:)?//', page.read_text()), page
