"""What is installed and packed: all of it, nothing else, and the program starts where there is nothing but libc."""

import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("STEPZERO_BUILD", SOURCE / "build"))
EXAMPLE = SOURCE / "examples" / "train_ddp.py"
LIBC = {"linux-vdso.so.1", "libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], text=True, stdin=subprocess.DEVNULL, timeout=240,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def expected(prefix):
    """Every file that belongs under the prefix."""
    rules = json.loads(run(BUILD / "stepzero", "rules", "--format", "json"))["rules"]
    documents = f"{prefix}/share/doc/stepzero"
    neovim = SOURCE / "editors" / "neovim"
    return {f"{prefix}/bin/stepzero", f"{documents}/LICENSE", f"{documents}/THIRD-PARTY-NOTICES",
            *(f"{documents}/rules/{rule['id']}.md" for rule in rules),
            *(f"{prefix}/share/stepzero/editors/neovim/{path.relative_to(neovim)}"
              for path in neovim.rglob("*") if path.is_file())}


def files(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The tree of `make install PREFIX=/usr DESTDIR=…`."""
    root = tmp_path_factory.mktemp("installed")
    run("cmake", "--install", BUILD, "--prefix", "/usr", env=dict(os.environ, DESTDIR=str(root)))
    return root


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packages")
    run("cpack", "-G", "TGZ;DEB", "-B", folder, cwd=BUILD)
    return folder


def test_install_puts_everything_in_its_place(installed):
    assert files(installed) == expected("usr")
    assert os.access(installed / "usr/bin/stepzero", os.X_OK)


def test_every_rule_has_a_page_that_says_something(installed):
    pages = list((installed / "usr/share/doc/stepzero/rules").rglob("*.md"))
    assert pages
    for page in pages:
        text = page.read_text()
        rule = f"{page.parent.name}/{page.stem}"
        assert rule in text and len(text.split()) > 30, f"{page}: {text}"


def test_the_notices_name_everything_linked_in(installed):
    notices = (installed / "usr/share/doc/stepzero/THIRD-PARTY-NOTICES").read_text()
    for work in ("tree-sitter", "tree-sitter-python", "tree-sitter-json", "tree-sitter-bash", "ICU", "spdlog", "{fmt}",
                 "JSON for Modern C++", "CLI11", "toml++", "libyaml", "PCRE2", "jemalloc", "Boost", "libstdc++"):
        assert re.search(rf"^=+\n.*{re.escape(work)}.*\n=+$", notices, re.M), work
    assert "GCC RUNTIME LIBRARY EXCEPTION" in notices
    assert "Boost Software License - Version 1.0" in notices


def test_the_program_needs_nothing_but_libc(installed):
    program = installed / "usr/bin/stepzero"
    needed = set(re.findall(r"^\s*(?:/\S*/)?(\S+)", run("ldd", program), re.M))
    assert needed <= LIBC
    assert not re.search(r"RPATH|RUNPATH", run("readelf", "-d", program))


@pytest.mark.skipif(os.geteuid() != 0, reason="chroot needs root")
def test_the_program_runs_alone(installed, tmp_path):
    """In a root that holds the program, libc and one script: no build folder, no source tree, no data files."""
    program = installed / "usr/bin/stepzero"
    (tmp_path / "bin").mkdir()
    shutil.copy(program, tmp_path / "bin/stepzero")
    for library in re.findall(r"(/\S+) \(0x", run("ldd", program)):
        (tmp_path / library[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, tmp_path / library[1:])
    shutil.copy(EXAMPLE, tmp_path)
    alone = [shutil.which("chroot", path="/usr/sbin:/usr/bin"), str(tmp_path), "/bin/stepzero"]
    assert run(*alone, "--version", env={}).split()
    done = subprocess.run([*alone, "check", f"/{EXAMPLE.name}"], env={}, text=True, capture_output=True, timeout=60)
    assert done.returncode == 1 and "deadlock/rank-guarded-collective" in done.stdout, done


def test_the_tarball_runs_where_it_is_unpacked(packages, tmp_path):
    [archive] = packages.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path)
    [root] = tmp_path.iterdir()
    assert root.name == archive.name.removesuffix(".tar.gz")
    assert files(root) == {name.removeprefix("/") for name in expected("")}
    assert run(root / "bin/stepzero", "--version", env={}).split()


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="no dpkg-deb")
def test_the_debian_package(packages, tmp_path):
    [package] = packages.glob("*.deb")
    run("dpkg-deb", "-x", package, tmp_path)
    assert files(tmp_path) == expected("usr")
    assert run("dpkg-deb", "-f", package, "Package").strip() == "stepzero"
    assert re.fullmatch(r"libc6 \(>= [\d.]+\)", run("dpkg-deb", "-f", package, "Depends").strip())
