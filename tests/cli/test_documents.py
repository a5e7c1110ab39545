"""Files that are no Python: configurations and scripts of the shell, in `check`."""

import pytest

CONFIGURATION = '{\n  "train_batch_size": 8,\n  "zero_optimization": {"stage": 2, "overlap_com": true}\n}\n'


def test_a_configuration_is_checked_and_fixed(stepzero, write):
    path = write("ds_config.json", CONFIGURATION)
    found = stepzero("check", "--format", "json", "ds_config.json")
    assert found.status == 1
    (only,) = found.json["diagnostics"]
    assert (only["rule"], only["severity"], only["range"]["start"]) == ("deepspeed/unknown-key", "error", {"line": 3, "column": 37})
    fixed = stepzero("check", "--fix", "ds_config.json")
    assert fixed.status == 0
    assert path.read_text() == CONFIGURATION.replace("overlap_com", "overlap_comm")


def test_what_is_not_checked_is_named(stepzero, write):
    for name in ("notes.md", "pyproject.toml", "package.json", "values.yaml"):
        write(name, "{}\n")
    out = stepzero("check", "notes.md", "pyproject.toml", "package.json", "values.yaml")
    assert out.status == 0
    for name in ("notes.md", "pyproject.toml", "package.json", "values.yaml"):
        assert f"{name}: not checked: " in out.said
    assert "No problems" not in out.text


def test_of_a_folder_only_what_is_known_counts(stepzero, write):
    write("train.py")
    write("package.json", "{}\n")
    write("conf/ds_config.json", CONFIGURATION)
    write("run.sh", "torchrun --nproc_per_nodes 2 train.py\n")
    out = stepzero("check", "--format", "json", ".")
    assert out.said == ""
    assert out.json["files"] == 3
    assert {(found["path"], found["rule"]) for found in out.json["diagnostics"]} == {("conf/ds_config.json", "deepspeed/unknown-key"), ("run.sh", "launch/unrecognized-argument")}


def test_standard_input_as_a_configuration(stepzero):
    out = stepzero("check", "--stdin-filename", "ds_config.json", "-", stdin=CONFIGURATION.encode())
    assert out.status == 1
    assert "ds_config.json:3:37" in out.text


def test_columns_count_code_points(stepzero, write):
    write("ds_config.json", '{"train_batch_size": 8, "_é😀": 1, "gradient_cliping": 1, "zero_optimization": {}}\n')
    (only,) = stepzero("check", "--format", "json", "ds_config.json").json["diagnostics"]
    assert only["range"]["start"]["column"] == 35


def test_comments_silence(stepzero, write):
    write("run.sh", "torchrun --nproc_per_nodes 2 train.py  # stepzero: ignore[launch/unrecognized-argument]\n")
    write("ds_config.json", '{"train_batch_size": 8,\n "zero_optimisation": {} // stepzero: ignore[deepspeed]\n}\n')
    out = stepzero("check", "run.sh", "ds_config.json")
    assert out.status == 0 and "No problems found in 2 files" in out.text


def test_the_shell_is_never_run(stepzero, write, tmp_path):
    write("run.sh", f"X=$(touch {tmp_path}/touched)\ntouch {tmp_path}/touched\ntorchrun $X train.py\n")
    stepzero("check", "run.sh")
    assert not (tmp_path / "touched").exists()


HARMFUL = {
    "nested.json": "[" * 100_000,
    "nested_closed.json": '{"a":' * 20_000 + "1" + "}" * 20_000,
    "broken.json": '{"train_batch_size": "zero_optimization": {{{\n' * 500,
    "nul.json": '{"zero_optimization\0": 1, "a": "\\ud800\\u", "b": 1e999999}',
    "bytes.json": b'{"zero_optimization": "\xff\xfe"}',
    "number.json": '{"zero_optimization": {"stage": 99999999999999999999999, "reduce_bucket_size": 1e400}, "train_batch_size": -9223372036854775808}',
    "least.json": '{"train_batch_size": -9223372036854775808, "train_micro_batch_size_per_gpu": 9223372036854775807, "gradient_accumulation_steps": 9223372036854775807}',
    "anchors.yaml": "a: &a [x, x]\n" + "".join(f"b{i}: &b{i} [*{'a' if i == 0 else f'b{i - 1}'}, *{'a' if i == 0 else f'b{i - 1}'}]\n" for i in range(64)),
    "quote.sh": "torchrun 'train.py --lr 1\n",
    "dollar.sh": "A=${A:-${B:-${C:-$((1/0))}}} torchrun $A ${ ${} $( $(( train.py\n",
    "Makefile": "a:\n\t" + "@-+ \\\n" * 3000 + "\t$(A) $$\n\ttorchrun '\n",
    "Dockerfile": "RUN \\\n# x\n" * 3000 + "CMD [\"torchrun\", [[[ \"\nENTRYPOINT\nRUN",
    "flow.yaml": "on: x\njobs:\n  a:\n    steps:\n    - run: |\n        ${{ ${{ }} torchrun ${{\n    - run: torchrun ${{ }\n    - run: |",
    "launch.json": '{"configurations": [1, {"type": "python", "program": 3, "args": {"a": []}, "env": {"": null}}, {"type": "python", "module": "", "args": [null, "", {}]}]}',
    "grow.sh": "A=xxxxxxxxxxxxxxxx\n" + "A=$A$A$A$A\n" * 64 + "torchrun $A train.py\n",
    "nested.sh": "if true; then " * 3_000 + "torchrun train.py",
    "loop.sh": "f() { f; torchrun train.py; }\nf\nwhile true; do A+=x; torchrun --nnodes $A train.py; done\n",
    "numbers.sh": "torchrun --nproc_per_node $((99999999999999999999 * 9)) --nnodes $((-9223372036854775808 / -1)) --master_port 99999999999999999999 train.py\n",
}


@pytest.mark.parametrize("name", HARMFUL)
def test_nothing_a_document_holds_does_harm(stepzero, write, name):
    content = HARMFUL[name]
    path = write(name, "x")
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert stepzero("check", name, timeout=20).status in ((2,) if b"\0" in path.read_bytes() else (0, 1))


@pytest.mark.parametrize("pinned", [True, False])
def test_requirements_around_the_folder_of_a_file_are_asked(stepzero, write, pinned):
    write("environment.yml", f"dependencies:\n  - pip:\n      - transformers{'==4.44.2' if pinned else '>=4.40'}\n")
    write("configs/sft.yaml", "output_dir: out\nevaluation_strategy: steps\nper_device_train_batch_size: 8\nlearning_rate: 0.0001\nnum_train_epochs: 3\n"
                               "gradient_accumulation_steps: 2\nlogging_steps: 10\nlr_scheduler_type: cosine\nseed: 1\nbf16: true\n")
    write("scripts/trainer.py", "from transformers import Trainer\n\n\nclass Own(Trainer):\n    def compute_loss(self, model, inputs, return_outputs=False):\n"
                                "        outputs = model(**inputs)\n        return (outputs.loss, outputs) if return_outputs else outputs.loss\n")
    found = stepzero("check", "--format", "json", ".").json["diagnostics"]
    assert {each["rule"] for each in found} == (set() if pinned else {"config/training-arguments", "call/framework-method"})
