"""The cases of configurations and launches, judged by those who read them: DeepSpeed reads each configuration, the shell runs each script
with the real launchers, and argparse takes or refuses the arguments. The recorded facts are compared with the packages."""

import importlib.util
import json
import os
import pathlib
import re
import socket
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
CASES = HERE.parent / "cases"
EXPECTATION = re.compile(r"[ \t]*#[ \t]*((?:FIXME (?:no )?)?(?:error|warning|information|hint)\[.*)$")


def oracle():
    spec = importlib.util.spec_from_file_location("oracles", HERE.parent / "oracles.py")
    oracles = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(oracles)
    return oracles.python()


PYTHON = oracle()
pytestmark = pytest.mark.skipif(not PYTHON, reason="the oracle is not installed")


def blocks(path):
    """The fences of a file by heading: language, title, lines as (text, expectations)."""
    heading, fence, found = "", None, []
    for line in path.read_text().splitlines():
        if fence is None:
            if line.startswith("#"):
                heading = line.strip("# ")
            elif line.startswith("```"):
                words = line[3:].split(" ")
                title = re.search(r'title="([^"]*)"', line)
                fence = dict(heading=heading, language=words[0], title=title.group(1) if title else "", after="after-fix" in words, lines=[])
        elif line.startswith("```"):
            found.append(fence)
            fence = None
        else:
            match = EXPECTATION.search(line)
            text = EXPECTATION.sub("", line)
            fence["lines"].append((text, match.group(1) if match else ""))
    return found


def text_of(block):
    return "".join(text + "\n" for text, expected in block["lines"] if text or not expected)


# What a configuration says of an optimizer is read when that is made: its classes say which parameters they take.
READ_CONFIGURATIONS = """
import json, sys
from deepspeed.runtime.config import DeepSpeedConfig
from record_deepspeed import rows_of_optimizers
taken = {(row["section"].split(":")[1].lower(), row["key"]) for row in rows_of_optimizers()}
def make_optimizer(config):
    name = (config.optimizer_name or "").lower()
    for key in config.optimizer_params or {}:
        if any(name == known for known, _ in taken) and (name, key) not in taken:
            raise TypeError("unexpected keyword argument " + key)
class Group:
    def __init__(self, world): self.world = world
    def get_data_parallel_world_size(self): return self.world
answers = []
for path in json.load(sys.stdin):
    why = []
    for world in (1, 2, 3, 4, 8, 16):
        try:
            import deepspeed.comm as dist
            dist.get_rank = lambda *a, **k: 0
            make_optimizer(DeepSpeedConfig(path, mpu=Group(world)))
            why = None
            break
        except (AssertionError, ValueError, TypeError, AttributeError, Exception) as error:
            why.append(f"{type(error).__name__}: {error}"[:200])
    answers.append(why[0] if why else None)
print("ANSWERS" + json.dumps(answers))
"""


# What DeepSpeed never gets to see as it stands there.
NOT_ASKED = ("A disk without a folder", "Configurations that somebody fills in", "Another program's configuration with parts of DeepSpeed's",
             "A file that is just being written", "A section alone",
             "Right: requirements that keep a version which reads it")  # of an older one
# Options of TrainingArguments that other versions of transformers have.
OF_OTHER_VERSIONS = ("--evaluation_strategy", "--warmup_ratio", "something_of_another_version")


def test_deepspeed_reads_the_configurations_as_the_cases_say(tmp_path):
    asked, expected = [], []
    for path in sorted((CASES / "deepspeed").glob("*.md")):
        for number, block in enumerate(blocks(path)):
            # "auto" is filled in before DeepSpeed reads it; the path on the disk is made later than the configuration is read.
            if block["language"] != "json" or '"auto"' in text_of(block) or block["title"] == "config.json" or block["heading"] in NOT_ASKED:
                continue
            if any("scheduler" in text and rule for text, rule in block["lines"]):
                continue  # the schedule is made later
            file = tmp_path / f"{path.stem}-{number}.json"
            file.write_text(text_of(block))
            asked.append(str(file))
            errors = [rule for _, rule in block["lines"] if "error[" in rule]
            refused_by_this_version = [rule for _, rule in block["lines"] if "has removed" in rule or "does not know" in rule or "the unknown key" in rule or "Neither" in rule or "older versions ignore" in rule]
            expected.append((f"{path.name}: {block['heading']}", bool(errors), bool(refused_by_this_version), file.read_text()))
    out = subprocess.run([PYTHON, "-c", READ_CONFIGURATIONS], input=json.dumps(asked), capture_output=True, text=True, cwd=HERE, env=dict(os.environ, DS_ACCELERATOR="cpu"), timeout=300)
    answers = json.loads(out.stdout.split("ANSWERS")[1])
    wrong = []
    for (name, error, version, text), answer in zip(expected, answers):
        if (error or version) != (answer is not None):
            wrong.append(f"{name}: {answer}\n{text}")
    assert not wrong, "\n\n".join(wrong)
    assert len(asked) > 20


def launches():
    """The scripts of the shell that stand with a script of Python, line by line."""
    for path in sorted((CASES / "launch").glob("arg*.md")):
        files = []
        for block in blocks(path):
            if block["after"]:
                continue
            if block["language"] == "python":
                if any(each["title"] == block["title"] for each in files):
                    files = []
                files.append(block)
            elif block["language"] == "bash":
                if files and files[-1]["heading"] == block["heading"]:
                    yield path, files, block
                files = []


@pytest.mark.parametrize("path, files, script", [pytest.param(*each, id=each[2]["heading"] + f"-{number}") for number, each in enumerate(launches())])
def test_the_script_takes_or_refuses_its_arguments(path, files, script, tmp_path):
    for file in files:
        target = tmp_path / file["title"]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text_of(file))
    if any("from somewhere" in text_of(file) for file in files):
        pytest.skip("a module that is not seen")
    (tmp_path / "scripts").mkdir(exist_ok=True)
    lines, pending, continued = [], [], ""
    for text, expected in script["lines"]:
        if not text and expected:
            pending.append(expected)
            continue
        continued += text + "\n"
        pending.append(expected)
        if not text.endswith("\\"):
            # A program that takes what it knows alone ends well, and says nothing of the rest.
            refused = any("warning[launch/unrecognized" in each and "ignores what" not in each for each in pending)
            lines.append((continued, any("error[" in each for each in pending), refused))
            continued, pending = "", []
    environment = dict(os.environ, PATH=f"{pathlib.Path(PYTHON).parent}:{os.environ['PATH']}", PYTHONPATH=str(tmp_path), DS_ACCELERATOR="cpu", OMP_NUM_THREADS="1")
    settings = ""
    for line, error, warning in lines:
        if not re.search(r"\b(torchrun|python|deepspeed)\b", line):
            settings += line
            continue
        # What the text does not decide: variables that nothing sets, options of another version, files that are not there.
        unset = any(name in "@*" or f"{name}=" not in settings for name in re.findall(r"\$\{?(\w+|[@*])", line))
        absent = any(not (tmp_path / name).exists() for name in re.findall(r"\S+\.json\b", line))
        if not (error or warning) and (unset or absent or any(option in line for option in OF_OTHER_VERSIONS)):
            continue
        if line.startswith("deepspeed"):
            # Its launcher counts GPUs; what it hands the script is all that matters here.
            line = re.sub(r"^deepspeed (--no_local_rank )?--num_gpus \d+ (\S+)", lambda m: f"python {m.group(2)}" + ("" if m.group(1) else " --local_rank=0"), line)
        line = re.sub(r"--nproc_per_node \d+", "--nproc_per_node 1", line)
        out = subprocess.run(["bash", "-c", settings + line], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
        assert (out.returncode != 0) == (error or warning), line + out.stdout + out.stderr


def programs():
    """The programs of engine.md with their configurations."""
    files = {}
    for block in blocks(CASES / "deepspeed" / "engine.md"):
        if block["after"]:
            continue
        if block["title"]:
            files[block["title"]] = text_of(block)
            continue
        if "elsewhere" not in text_of(block):
            yield block["heading"], files, text_of(block), any("error[" in expected for _, expected in block["lines"])
        files = {}


# The program's own end is what is asked: at the interpreter's exit a thread of gloo that is still joinable aborts the process now and then.
RUN_TO_THE_END = """
import os, runpy, sys
runpy.run_path("main.py", run_name="__main__")
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)
"""


@pytest.mark.parametrize("files, program, fails", [pytest.param(*each[1:], id=each[0]) for each in programs()])
def test_the_engine_trains_as_the_cases_say(files, program, fails, tmp_path, tmp_path_factory):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "main.py").write_text(program)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = dict(os.environ, RANK="0", LOCAL_RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), DS_ACCELERATOR="cpu", OMP_NUM_THREADS="1",
                       # DeepSpeed compiles an extension once, and waits forever for one that another process has left half made.
                       TORCH_EXTENSIONS_DIR=str(tmp_path_factory.getbasetemp() / "extensions"))
    out = subprocess.run([PYTHON, "-c", RUN_TO_THE_END], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=400)
    if not fails and "Type fp16 is not supported on your device" in out.stderr:
        pytest.skip("DeepSpeed trains in fp16 on a GPU only")
    assert (out.returncode != 0) == fails, out.stdout + out.stderr


@pytest.mark.parametrize("recorder", ["record_accelerate.py", "record_deepspeed.py", "record_launchers.py", "record_training_arguments.py"])
def test_the_facts_are_those_of_the_packages(recorder):
    out = subprocess.run([PYTHON, str(HERE / recorder), "--check"], capture_output=True, text=True, timeout=300)
    assert out.returncode == 0, out.stdout + out.stderr
