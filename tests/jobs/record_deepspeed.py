#!/usr/bin/env python3
"""Writes analysis/rules/deepspeed/keys.inc: what the configuration of DeepSpeed may hold, asked of the package itself.

The top-level keys are those that DeepSpeedConfig looks for in a dict that notes who asks; the sections are its pydantic models. Run
with the oracle's Python (tests/oracles.py); with --check it only compares.
"""

import argparse
import enum
import inspect
import os
import pathlib
import sys
import typing

os.environ.setdefault("DS_ACCELERATOR", "cpu")
TARGET = pathlib.Path(__file__).parents[2] / "analysis/rules/deepspeed/keys.inc"

SECTIONS_OF_MODELS = {
    "zero_optimization": ("deepspeed.runtime.zero.config", "DeepSpeedZeroConfig"),
    "fp16": ("deepspeed.runtime.precision_config", "DeepSpeedFP16Config"),
    "bf16": ("deepspeed.runtime.precision_config", "DeepSpeedBF16Config"),
    "comms_logger": ("deepspeed.comm.config", "CommsLoggerConfig"),
    "tensorboard": ("deepspeed.monitor.config", "TensorBoardConfig"),
    "wandb": ("deepspeed.monitor.config", "WandbConfig"),
    "csv_monitor": ("deepspeed.monitor.config", "CSVConfig"),
    "comet": ("deepspeed.monitor.config", "CometConfig"),
    "hybrid_engine": ("deepspeed.runtime.config", "HybridEngineConfig"),
}
# Sections that are read key by key: they are asked with a dict that notes what is looked for.
SECTIONS_OF_DICTS = ["activation_checkpointing", "aio", "flops_profiler", "optimizer", "scheduler", "torch_autocast", "data_types", "checkpoint"]
# Types of the keys that no model describes; what is read of them decides.
TYPES = {
    "train_batch_size": "int", "train_micro_batch_size_per_gpu": "int", "gradient_accumulation_steps": "int", "steps_per_print": "int",
    "gradient_clipping": "float", "prescale_gradients": "bool", "gradient_predivide_factor": "float", "wall_clock_breakdown": "bool",
    "memory_breakdown": "bool", "dump_state": "bool", "disable_allgather": "bool", "zero_allow_untested_optimizer": "bool",
    "zero_force_ds_cpu_optimizer": "bool", "dataloader_drop_last": "bool", "optimizer": "table", "scheduler": "table", "fp16": "table",
    "bf16": "table", "bfloat16": "table", "activation_checkpointing": "table", "flops_profiler": "table", "aio": "table",
    "checkpoint": "table", "data_types": "table", "torch_autocast": "table", "pipeline": "table", "compile": "table",
}


class Noting(dict):
    """A dict that notes the keys that somebody looks for."""

    def __init__(self, name, looked, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.name, self.looked = name, looked

    def note(self, key):
        self.looked.setdefault(self.name, set()).add(key)

    def get(self, key, default=None):
        self.note(key)
        return super().get(key, default)

    def __contains__(self, key):
        self.note(key)
        return super().__contains__(key)

    def __getitem__(self, key):
        self.note(key)
        return super().__getitem__(key)

    def __copy__(self):
        return self

    def keys(self):
        owner = self

        class Keys:
            def __contains__(self, key):
                return key in owner

            def __iter__(self):
                return dict.__iter__(owner)

        return Keys()


def type_of(annotation):
    """The type as the table has it, its choices, and the model of a section."""
    if typing.get_origin(annotation) is typing.Union:
        annotation = [each for each in typing.get_args(annotation) if each is not type(None)][0]
    if isinstance(annotation, type):
        if issubclass(annotation, enum.Enum):
            values = [str(each.value) for each in annotation]
            return ("int" if issubclass(annotation, int) else "text"), values, None
        if hasattr(annotation, "model_fields"):
            return "table", [], annotation
        for known, name in ((bool, "bool"), (int, "int"), (float, "float"), (str, "text"), (pathlib.Path, "text"), (dict, "table"), (list, "list")):
            if issubclass(annotation, known):
                return name, [], None
    if typing.get_origin(annotation) in (list, typing.List):
        return "list", [], None
    return "any", [], None


def shown(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, int):
        return int.__repr__(value) if value < 2**62 else "unlimited"
    if isinstance(value, float):
        return repr(value)
    return value if isinstance(value, str) else ""


def limit(field, name):
    for each in field.metadata:
        if getattr(each, name, None) is not None:
            return getattr(each, name)
    return None


def rows_of_model(section, model):
    rows, inner = [], []
    for name, field in model.model_fields.items():
        kind, choices, nested = type_of(field.annotation)
        extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        least = limit(field, "ge")
        if least is None and limit(field, "gt") is not None and kind == "int":
            least = limit(field, "gt") + 1
        default = "" if field.is_required() or field.default_factory else shown(field.default)
        row = dict(section=section, key=field.alias or name, kind=kind, default=default, least=least, choices=choices,
                   instead=extra.get("new_param", "") if extra.get("deprecated") else "", strict=True)
        rows.append(row)
        if field.alias and field.alias != name:
            rows.append(dict(row, key=name))
        if nested is not None:
            inner += rows_of_model(section + "." + (field.alias or name), nested)
    return rows + inner


# Classes that may be made of the optimizer of this name (runtime/engine.py), and parameters that the engine reads itself. Which of the
# classes it is depends on the offload, so that all of their parameters count.
OPTIMIZERS = {
    "Adam": (["deepspeed.ops.adam.FusedAdam", "deepspeed.ops.adam.DeepSpeedCPUAdam", "torch.optim.Adam"], ["torch_adam", "adam_w_mode"]),
    "AdamW": (["deepspeed.ops.adam.FusedAdam", "deepspeed.ops.adam.DeepSpeedCPUAdam", "torch.optim.AdamW"], ["torch_adam", "adam_w_mode"]),
    "Adagrad": (["deepspeed.ops.adagrad.DeepSpeedCPUAdagrad", "torch.optim.Adagrad"], []),
    "Lamb": (["deepspeed.ops.lamb.FusedLamb"], []),
    "Lion": (["deepspeed.ops.lion.FusedLion", "deepspeed.ops.lion.DeepSpeedCPULion"], []),
    "SGD": (["torch.optim.SGD"], []),
}


def rows_of_optimizers():
    import importlib

    rows = []
    for name, (classes, own) in OPTIMIZERS.items():
        found = dict.fromkeys(own, "")
        for path in classes:
            module, _, of = path.rpartition(".")
            for key, parameter in inspect.signature(getattr(importlib.import_module(module), of).__init__).parameters.items():
                if key not in ("self", "params", "model_params"):
                    found.setdefault(key, "" if parameter.default is parameter.empty else shown(parameter.default))
        for key, default in found.items():
            kind = {"lr": "float", "weight_decay": "float", "eps": "float", "momentum": "float", "betas": "list"}.get(key, "any")
            rows.append(dict(section="optimizer.params:" + name, key=key, kind=kind, default=default, least=None, choices=[], instead="", strict=True))
    return rows


def record():
    import importlib

    import deepspeed
    from deepspeed.runtime import config, lr_schedules

    looked = {}
    sections = {name: Noting(name, looked) for name in SECTIONS_OF_DICTS}
    sections["optimizer"]["type"] = "Adam"
    sections["scheduler"]["type"] = "WarmupLR"
    config.DeepSpeedConfig(Noting("", looked, train_batch_size=8, **sections))
    rows = []
    removed = config._REMOVED_TOP_LEVEL_CONFIG_KEYS
    for key in sorted(looked[""] | {"sequence_parallel_size"}):
        if key in removed:
            continue
        kind = TYPES.get(key, "table" if key in SECTIONS_OF_MODELS else "any")
        rows.append(dict(section="", key=key, kind=kind, default="", least=None, choices=[], instead="", strict=False))
    for section in SECTIONS_OF_DICTS:
        for key in sorted(looked.get(section, ())):
            rows.append(dict(section=section, key=key, kind="any", default="", least=None, choices=[], instead="", strict=False))
    for section, (module, name) in SECTIONS_OF_MODELS.items():
        rows += rows_of_model(section, getattr(importlib.import_module(module), name))
    for name in lr_schedules.VALID_LR_SCHEDULES:
        for key, parameter in inspect.signature(getattr(lr_schedules, name).__init__).parameters.items():
            if key in ("self", "optimizer"):
                continue
            default = "" if parameter.default is parameter.empty else shown(parameter.default)
            rows.append(dict(section="scheduler.params:" + name, key=key, kind="any", default=default, least=None, choices=[], instead="", strict=True))
    rows += rows_of_optimizers()
    text = f"// Made by tests/jobs/record_deepspeed.py of DeepSpeed {deepspeed.__version__}: do not edit.\n"
    for row in rows:
        kind = {"bool": "boolean", "int": "integer", "float": "number"}.get(row["kind"], row["kind"])
        least = "unbounded" if row["least"] is None else f"{row['least']:g}"
        text += (f'{{"{row["section"]}", "{row["key"]}", KeyType::{kind}, "{row["default"]}", {least}, "{"|".join(row["choices"])}", '
                 f'"{row["instead"]}", {"true" if row["strict"] else "false"}}},\n')
    for section, keys in (("", removed), ("zero_optimization", config._REMOVED_ZERO_CONFIG_KEYS)):
        for key in sorted(keys):
            text += f'{{"{section}", "{key}", KeyType::removed, "", unbounded, "", "", true}},\n'
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    made = record()
    if parser.parse_args().check:
        if made != TARGET.read_text():
            sys.exit("keys.inc is not what DeepSpeed says: run tests/jobs/record_deepspeed.py")
    else:
        TARGET.write_text(made)


if __name__ == "__main__":
    main()
