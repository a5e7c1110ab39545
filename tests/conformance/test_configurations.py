"""Configurations and scripts of the shell as open documents: what is said of them, where, and what follows from it in the program."""

import random

import pytest

from client import CAPABILITIES, position
from text import Text

ENCODINGS = ["utf-8", "utf-16", "utf-32"]
CONFIGURATION = '{\n  "_é🙂": "🙂", "gradient_cliping": 1,\n  "train_batch_size": 2,\n  "zero_optimization": {"stage": 2, "overlap_com": true}\n}\n'
PROGRAM = """\
import deepspeed
import torch
from torch import nn

model = nn.Linear(4, 4)
engine, _, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config="ds_config.json")
loss = engine(torch.randn(2, 4)).pow(2).mean()
engine.backward(loss)
engine.step()
"""


def with_encodings(*encodings):
    return {**CAPABILITIES, "general": {"positionEncodings": list(encodings)}}


def said(diagnostics):
    return sorted((each["code"], each["severity"], each["range"]["start"]["line"], each["range"]["start"]["character"]) for each in diagnostics)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_keys_are_underlined_in_the_negotiated_encoding(start, encoding, tmp_path):
    client = start()
    client.initialize(with_encodings(encoding))
    uri = (tmp_path / "ds_config.json").as_uri()
    client.open(uri, CONFIGURATION, language="json")
    found = client.diagnostics(uri, 1)
    text = Text(CONFIGURATION, encoding)
    assert [(each["code"], text.slice(each["range"])) for each in found] == [("deepspeed/unknown-key", '"gradient_cliping"'), ("deepspeed/unknown-key", '"overlap_com"')]


@pytest.mark.parametrize("name, language, whole", [("ds_config.json", "json", CONFIGURATION), ("run.sh", "shellscript", "N=2 # é🙂\ntorchrun --nproc_per_nodes $N \\\n  --master_port 70000 train.py\n"),
                                                   ("accelerate.yaml", "yaml", "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nnum_process: 2 # 🙂\n")])
def test_after_any_edits_the_same_is_said_as_of_the_text_alone(start, name, language, whole, tmp_path):
    client = start()
    client.initialize(with_encodings("utf-16"))
    uri = (tmp_path / name).as_uri()
    client.open(uri, whole, language=language)
    text, chosen = Text(whole, "utf-16"), random.Random(name)
    version = 1
    for step in range(30):
        version += 1
        begin = chosen.randrange(len(text.text) + 1)
        end = min(len(text.text), begin + chosen.randrange(4))
        client.change(uri, version, text.replace(begin, end, chosen.choice(["", "x", '"', "{", "🙂", "\n", " ", "}", "\\", "$"])))
        if step % 10 != 9:
            continue
        other = (tmp_path / str(step) / name).as_uri()
        client.open(other, text.text, language=language)
        assert said(client.diagnostics(uri, version)) == said(client.diagnostics(other, 1)), text.text
        client.close(other)


def test_a_fix_in_the_configuration_takes_back_what_the_program_was_told(start, tmp_path):
    broken = '{"train_batch_size": 2, "optimiser": {"type": "AdamW"}, "zero_optimization": {"stage": 2}}\n'
    (tmp_path / "ds_config.json").write_text(broken)
    client = start()
    client.initialize(CAPABILITIES)
    program, configuration = (tmp_path / "train.py").as_uri(), (tmp_path / "ds_config.json").as_uri()
    client.open(program, PROGRAM)
    assert [each["code"] for each in client.diagnostics(program, 1)] == ["deepspeed/engine"]
    client.open(configuration, broken, language="json")
    (found,) = client.diagnostics(configuration, 1)
    actions = client.call("textDocument/codeAction", {"textDocument": {"uri": configuration}, "range": found["range"], "context": {"diagnostics": [found]}})
    assert actions[0]["title"] == "Rename to optimizer"
    client.change(configuration, 2, broken.replace("optimiser", "optimizer"))
    assert client.diagnostics(configuration, 2) == []
    client.idle()
    assert client.diagnostics(program) == []


def test_keys_are_explained_and_completed(start, tmp_path):
    client = start()
    client.initialize(CAPABILITIES)
    uri = (tmp_path / "ds_config.json").as_uri()
    text = '{\n  "train_batch_size": 2,\n  "zero_optimization": {"stage": 2, "over" }\n}\n'
    client.open(uri, text, language="json")
    hover = client.call("textDocument/hover", {"textDocument": {"uri": uri}, "position": position(2, 6)})
    assert "What the ranks share" in hover["contents"]["value"]
    found = client.call("textDocument/completion", {"textDocument": {"uri": uri}, "position": position(2, text.splitlines()[2].index("over") + 4)})
    (comm,) = [item for item in found if item["label"] == "overlap_comm"]
    assert "true or false" in comm["detail"]
    assert comm["filterText"] == '"overlap_comm"'
    begin = text.splitlines()[2].index('"over"')
    assert comm["textEdit"] == {"range": {"start": position(2, begin), "end": position(2, begin + 6)}, "newText": '"overlap_comm": '}
    assert "stage" not in [item["label"] for item in found]
    assert "train_batch_size" not in [item["label"] for item in found]


def test_of_python_nothing_is_completed_and_nobody_waits(start):
    client = start()
    client.initialize(CAPABILITIES)
    client.open("untitled:train.py", PROGRAM)
    assert client.call("textDocument/completion", {"textDocument": {"uri": "untitled:train.py"}, "position": position(0, 3)}) is None


def test_values_are_completed_behind_their_keys(start):
    client = start()
    client.initialize(CAPABILITIES)
    uri = "untitled:ds_config.json"
    text = '{\n  "train_batch_size": 8,\n  "zero_optimization": {"stage": 2, "offload_optimizer": {"device": "c"}, "overlap_comm": }\n}\n'
    client.open(uri, text, language="json")
    line = text.splitlines()[2]

    def at(begun):
        found = client.call("textDocument/completion", {"textDocument": {"uri": uri}, "position": position(2, line.index(begun) + len(begun))})
        return {item["label"]: item["textEdit"]["newText"] for item in found}

    assert at('"stage": ') == {"0": "0", "1": "1", "2": "2", "3": "3"}
    assert at('"device": "c') == {'"none"': '"none"', '"cpu"': '"cpu"', '"nvme"': '"nvme"'}
    assert at('"overlap_comm": ') == {"true": "true", "false": "false"}


def test_words_of_scripts_are_explained(start):
    client = start()
    client.initialize(CAPABILITIES)
    uri = "untitled:run.sh"
    text = "export NCCL_DEBUG=INFO\ntorchrun --nproc_per_node 8 train.py\n"
    client.open(uri, text, language="shellscript")
    hover = client.call("textDocument/hover", {"textDocument": {"uri": uri}, "position": position(0, 9)})
    assert "`INFO`" in hover["contents"]["value"] and "NCCL" in hover["contents"]["value"]
    hover = client.call("textDocument/hover", {"textDocument": {"uri": uri}, "position": position(1, 12)})
    assert "torchrun" in hover["contents"]["value"]


def test_what_a_batch_file_asks_for_is_explained_and_completed(start):
    client = start()
    client.initialize(CAPABILITIES)
    uri = "untitled:job.sh"
    text = "#!/bin/bash\n#SBATCH --nodes=2 -n 16\n#SBATCH --ntasks-per-node 8\n#SBATCH --gres=gpu:a100:8\n#SBATCH --\nsrun python train.py\n"
    client.open(uri, text, language="shellscript")

    def explained(line, word):
        at = text.splitlines()[line].index(word) + 1
        return client.call("textDocument/hover", {"textDocument": {"uri": uri}, "position": position(line, at)})["contents"]["value"]

    assert "`--nodes`, `-N` of sbatch" in explained(1, "--nodes")
    assert "2 nodes × 8 tasks: srun starts 16 processes; 8 GPUs on each node, 16 in all" in explained(1, "--nodes")
    assert "`--ntasks`" in explained(1, "-n ")
    assert "as many as GPUs where srun does" in explained(2, "--ntasks-per-node")
    assert "GPUs on each node" in explained(3, "--gres")
    found = client.call("textDocument/completion", {"textDocument": {"uri": uri}, "position": position(4, len("#SBATCH --"))})
    assert "--time=" in [item["label"] for item in found]


def test_arguments_of_programs_are_explained(start, tmp_path):
    (tmp_path / "train.py").write_text('import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument("--lr", type=float, default=0.1, help="the learning rate")\nargs = parser.parse_args()\n')
    client = start()
    client.initialize(CAPABILITIES)
    uri = (tmp_path / "run.sh").as_uri()
    client.open(uri, "torchrun --nproc_per_node 8 train.py --lr 0.2\n", language="shellscript")
    client.diagnostics(uri, 1)
    hover = client.call("textDocument/hover", {"textDocument": {"uri": uri}, "position": position(0, 38)})
    assert "`--lr` of `train.py`: a number." in hover["contents"]["value"] and "the learning rate" in hover["contents"]["value"]


def test_keys_of_accelerate_are_explained_and_completed(start, tmp_path):
    client = start()
    client.initialize(CAPABILITIES)
    uri = (tmp_path / "accelerate.yaml").as_uri()
    text = "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nmixed_precision: b\nfsdp_config:\n  fsdp_version: 2\n  fsdp_auto\nnum_processes: 8\n"
    client.open(uri, text, language="yaml")

    def at(line, begun):
        found = client.call("textDocument/completion", {"textDocument": {"uri": uri}, "position": position(line, text.splitlines()[line].index(begun) + len(begun))})
        return {item["label"]: item["textEdit"]["newText"] for item in found}

    # A key that is half typed makes no YAML of the file.
    keys = at(5, "fsdp_auto")
    assert keys["fsdp_auto_wrap_policy"] == "fsdp_auto_wrap_policy: "
    assert "fsdp_version" not in keys and "num_machines" not in keys
    assert at(2, "mixed_precision: b")["bf16"] == "bf16"
    client.change(uri, 2, text.replace("fsdp_auto", "fsdp_auto_wrap_policy: NO_WRAP"))
    hover = client.call("textDocument/hover", {"textDocument": {"uri": uri}, "position": position(5, 6)})
    assert "gathered whole" in hover["contents"]["value"]


def test_keys_of_torchtitan_are_explained_and_completed(start, tmp_path):
    client = start()
    client.initialize(CAPABILITIES)
    uri = (tmp_path / "llama.toml").as_uri()
    text = '[model]\nname = "llama3"\n\n[optimizer]\nname = "AdamW"\nimplementation = "fused"\n\n[training]\nseq_len = 8192\nlocal_batch_sise = 8\nlocal\n'
    client.open(uri, text, language="toml")

    def at(line, begun):
        found = client.call("textDocument/completion", {"textDocument": {"uri": uri}, "position": position(line, text.splitlines()[line].index(begun) + len(begun))})
        return {item["label"]: item["textEdit"]["newText"] for item in found}

    # A key that is half typed makes no TOML of the file.
    keys = at(10, "local")
    assert keys["local_batch_size"] == "local_batch_size = "
    assert "lr" not in keys
    whole = text.replace("\nlocal\n", "\n")
    client.change(uri, 2, whole)
    (found,) = client.diagnostics(uri, 2)
    assert (found["code"], found["range"]["start"]) == ("config/torchtitan", position(9, 0))
    hover = client.call("textDocument/hover", {"textDocument": {"uri": uri}, "position": position(8, 2)})
    assert "`training.seq_len`" in hover["contents"]["value"]


SCRIPT = """\
import argparse

import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=64)
args = parser.parse_args()
layer = nn.MultiheadAttention(args.width, 4)
"""


def test_a_program_that_starts_another_gives_it_its_arguments(start, tmp_path):
    launcher = 'import subprocess\n\nsubprocess.run(["python", "train.py", "--width", "30"])\n'
    (tmp_path / "go.py").write_text(launcher)
    (tmp_path / "train.py").write_text(SCRIPT)
    client = start()
    client.initialize(CAPABILITIES, workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "w"}])
    script, other = (tmp_path / "train.py").as_uri(), (tmp_path / "go.py").as_uri()
    client.open(script, SCRIPT)
    client.idle()
    (found,) = client.diagnostics(script)
    assert "As launched by `go.py:3`" in found["message"]
    client.open(other, launcher)
    client.change(other, 2, launcher.replace("30", "32"))
    client.diagnostics(other, 2)
    client.idle()
    assert client.diagnostics(script) == []


def test_a_launch_line_makes_a_file_a_configuration(start, tmp_path):
    (tmp_path / "stage.json").write_text('{"gradient_cliping": 1.0, "rate": 3, "other": 1}\n')
    (tmp_path / "train.py").write_text("print(1)\n")
    (tmp_path / "run.sh").write_text("deepspeed train.py --deepspeed_config stage.json\n")
    client = start()
    client.initialize(CAPABILITIES, workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "w"}])
    uri = (tmp_path / "stage.json").as_uri()
    client.open(uri, (tmp_path / "stage.json").read_text(), language="json")
    client.idle()
    assert "deepspeed/unknown-key" in [each["code"] for each in client.diagnostics(uri)]
    keys = client.call("textDocument/completion", {"textDocument": {"uri": uri}, "position": position(0, 1)})
    assert "train_batch_size" in [item["label"] for item in keys]


def test_keys_of_trainers_and_of_hydra_are_explained_and_completed(start, tmp_path):
    client = start()
    client.initialize(CAPABILITIES)

    def hover(uri, line, column):
        found = client.call("textDocument/hover", {"textDocument": {"uri": uri}, "position": position(line, column)})
        return found["contents"]["value"] if found else ""

    def labels(uri, line, column):
        return {item["label"] for item in client.call("textDocument/completion", {"textDocument": {"uri": uri}, "position": position(line, column)})}

    arguments = (tmp_path / "args.yaml").as_uri()
    client.open(arguments, "output_dir: out\nper_device_train_batch_size: 4\ngradient_checkpointing: true\nsave_strategy: s\nmax_steps: 10\nwar\n", language="yaml")
    assert "effective batch" in hover(arguments, 1, 5) and "transformers" in hover(arguments, 1, 5)
    assert "less memory" in hover(arguments, 2, 5)
    assert "steps" in labels(arguments, 3, 16)
    assert "warmup_steps" in labels(arguments, 5, 3) and "max_steps" not in labels(arguments, 5, 3)

    lightning = (tmp_path / "config.yaml").as_uri()
    client.open(lightning, "seed_everything: 1\nmodel:\n  width: 8\ntrainer:\n  max_epochs: 3\n  precision: bf16-mixed\n  devices: 8\n  accu\n", language="yaml")
    client.change(lightning, 2, "seed_everything: 1\nmodel:\n  width: 8\ntrainer:\n  max_epochs: 3\n  precision: bf16-mixed\n  devices: 8\n")
    assert "loss scale" in hover(lightning, 5, 4)
    client.change(lightning, 3, "seed_everything: 1\nmodel:\n  width: 8\ntrainer:\n  max_epochs: 3\n  precision: bf16-mixed\n  devices: 8\n  accu\n")
    assert "accumulate_grad_batches" in labels(lightning, 7, 6)

    hydra = (tmp_path / "conf" / "train.yaml").as_uri()
    client.open(hydra, "defaults:\n  - model: small\n  - _self_\noptimizer:\n  _target_: torch.optim.AdamW\n  lr: 0.1\n", language="yaml")
    assert "composed" in hover(hydra, 0, 2) and "Hydra" in hover(hydra, 0, 2)
    assert "instantiate" in hover(hydra, 4, 4)
    assert hover(hydra, 5, 2) == ""


def test_where_memory_is_too_small_the_hover_says_what_spares_it(start, tmp_path):
    (tmp_path / "stepzero.toml").write_text('gpu-memory = "16GB"\n')
    client = start()
    client.initialize({**CAPABILITIES, "workspaceFolders": [{"uri": tmp_path.as_uri(), "name": "w"}]}, rootUri=tmp_path.as_uri())
    program = (tmp_path / "train.py").as_uri()
    client.open(program, """\
import torch
from torch import nn

model = nn.Sequential(*[nn.Linear(16384, 16384) for _ in range(8)]).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for x in torch.randn(10, 2, 16384).cuda():
    optimizer.zero_grad()
    model(x).mean().backward()
    optimizer.step()
""")
    found = [each for each in client.diagnostics(program, 1) if each["code"] == "memory/too-large"]
    assert found
    start_of = found[0]["range"]["start"]
    text = client.call("textDocument/hover", {"textDocument": {"uri": program}, "position": start_of})["contents"]["value"]
    for word in ("accumulation", "bfloat16", "checkpointing", "torch.compile", "ZeRO"):
        assert word in text
