#!/usr/bin/python3
"""Records what every model builder of the installed torchvision answers: tests/torchvision/record.py [PATTERN…] writes facts.json,
the builders that match, if any pattern is given; the others stay.

The models run on PyTorch's meta device, and their weights are left as they were allocated: shapes are computed, nothing else, so
that the largest models fit. What has no kernel there is left out. The second oracle is asked (tests/oracles.py): only it has torchvision.
"""

import fnmatch
import json
import pathlib
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import oracles  # noqa: E402

FACTS = pathlib.Path(__file__).with_name("facts.json")


def program(builder, options, call, size):
    """The program that is run and analysed: the result is `y`."""
    inputs = f"torch.zeros({', '.join(map(str, size))})"
    return f"import torch\nimport torchvision\n\nm = torchvision.models.{builder}({options}).eval()\ny = {call.format(x=inputs)}\n"


def encoded(value):
    if hasattr(value, "shape"):
        return {"kind": "tensor", "shape": list(value.shape), "dtype": str(value.dtype).removeprefix("torch.")}
    if isinstance(value, dict):
        return {"kind": "dict", "items": {str(key): encoded(item) for key, item in value.items()}}
    return {"kind": "tuple", "items": [encoded(item) for item in value]}


def builders():
    """(family, builder's name below torchvision.models, its arguments, the call, the size of the input)"""
    import torchvision.models as models

    for name in models.list_models(models):
        size = (1, 3, 299, 299) if name == "inception_v3" else (1, 3, 224, 224)
        yield "classification", name, "", "m({x})", size
    for name in models.list_models(models.segmentation):
        yield "segmentation", f"segmentation.{name}", "weights_backbone=None", "m({x})['out']", (1, 3, 224, 224)
    for name in models.list_models(models.detection):
        yield "detection backbone", f"detection.{name}", "weights_backbone=None", "tuple(m.backbone({x}).values())", (1, 3, 320, 320)
    for name in models.list_models(models.video):
        large = name.startswith(("mvit", "s3d", "swin3d"))
        yield "video", f"video.{name}", "", "m({x})", (1, 3, 16, 224, 224) if large else (1, 3, 8, 112, 112)


def main():
    oracles.enter(oracles.SECOND)
    import torch
    import torchvision

    warnings.simplefilter("ignore")
    for name in dir(torch.nn.init):
        if name.endswith("_") and not name.startswith("_"):
            setattr(torch.nn.init, name, lambda tensor, *_, **__: tensor)
    zeros = torch.zeros
    patterns = sys.argv[1:]
    old = json.loads(FACTS.read_text())["models"] if patterns else []
    models = {model["builder"]: model for model in old}
    for family, name, options, call, size in builders():
        if patterns and not any(fnmatch.fnmatch(name, pattern) for pattern in patterns):
            continue
        *build, last = program(name, options, call, size).splitlines()
        names = {}
        try:
            with torch.no_grad():
                exec("\n".join(build), names)
                names["m"].to("meta")
                torch.zeros = lambda *sizes, **rest: zeros(*sizes, **{**rest, "device": "meta"})
                exec(last, names)
        except Exception as error:  # what fails here is not asked for there
            print(f"{name}: {type(error).__name__}: {str(error)[:150]}", file=sys.stderr)
            continue
        finally:
            torch.zeros = zeros
        models[name] = {"family": family, "builder": name, "options": options, "call": call, "size": list(size), "result": encoded(names["y"])}
        lines = ",\n".join("  " + json.dumps(model) for model in models.values())
        versions = json.dumps({"torch": torch.__version__, "torchvision": torchvision.__version__})
        FACTS.write_text(versions[:-1] + ', "models": [\n' + lines + "\n]}\n")


if __name__ == "__main__":
    main()
