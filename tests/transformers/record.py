#!/usr/bin/env python3
"""Records what 100 architectures of the installed transformers answer: tests/transformers/record.py [PATTERN…] writes facts.json, those that
match, if any pattern is given; the others stay.

Each model is made with its default configuration on PyTorch's meta device: shapes are computed, nothing else, so that the largest fit. What
asks there for a number that is in a tensor runs on the CPU, with weights left as they were allocated.

The architectures are those that people train and fine-tune most, by downloads as far as they are known to the one who chose, one head each:
45 that generate text, 26 that classify it, 9 that turn one text or sound into another, 20 that classify images. They were chosen before
anything was measured, and none is taken out because it is hard.
"""

import fnmatch
import json
import pathlib
import sys
import warnings

FACTS = pathlib.Path(__file__).with_name("facts.json")

GENERATE = """llama mistral qwen2 qwen3 gemma gemma2 gemma3_text phi phi3 gpt2 gpt_neo gpt_neox gptj gpt_bigcode opt bloom falcon mpt codegen
    mixtral qwen2_moe qwen3_moe deepseek_v2 deepseek_v3 olmo olmo2 olmoe stablelm starcoder2 cohere granite granitemoe glm glm4 nemotron
    gpt_oss smollm3 ernie4_5 exaone4 mamba mamba2 qwen3_next xglm biogpt jamba"""
CLASSIFY = """bert roberta distilbert albert electra deberta deberta-v2 xlm-roberta camembert mpnet modernbert xlnet layoutlm layoutlmv3
    convbert big_bird longformer fnet mobilebert squeezebert funnel ernie roformer rembert megatron-bert esm"""
TRANSLATE = "t5 mt5 bart mbart pegasus marian m2m_100 led whisper"
SEE = """vit deit beit swin swinv2 convnext convnextv2 resnet regnet mobilevit mobilenet_v2 dinov2 poolformer segformer cvt efficientnet
    siglip clip levit pvt_v2"""

TOKENS = "input_ids=torch.zeros(2, 16, dtype=torch.long)"
ANSWER = "decoder_input_ids=torch.zeros(2, 8, dtype=torch.long)"
LABELS = {"generate text": "labels=torch.zeros(2, 16, dtype=torch.long)", "translate": "labels=torch.zeros(2, 8, dtype=torch.long)",
          "classify text": "labels=torch.zeros(2, dtype=torch.long)", "classify images": "labels=torch.zeros(2, dtype=torch.long)"}


# Three configurations leave open by default what their models need.
OPTIONS = {"deepseek_v2": "num_experts_per_tok=6", "nemotron": "num_key_value_heads=8", "esm": "vocab_size=33, pad_token_id=1, mask_token_id=32"}


def program(config, options, model, inputs):
    """The program that is run and analysed: the result is `y`."""
    return (f"import torch\nfrom transformers import {config}, {model}\n\n"
            f"m = {model}({config}({options})).eval()\nout = m({inputs})\ny = out.logits\n")


def training_program(config, options, model, inputs, family):
    """The same as it is trained: moved, and called with labels; the result is `loss`."""
    return (f"import torch\nfrom transformers import {config}, {model}\n\ndevice = \"cpu\"\n"
            f"m = {model}({config}({options})).to(device).train()\nout = m({inputs}, {LABELS[family]})\nloss = out.loss\n")


def architectures():
    """(family, model type, its configuration's class, the model's class, what it is called with)"""
    from transformers.models.auto import modeling_auto as auto
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES as configs

    for family, types, heads in (("generate text", GENERATE, auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES),
                                 ("classify text", CLASSIFY, auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES),
                                 ("translate", TRANSLATE, auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES),
                                 ("classify images", SEE, auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES)):
        for kind in types.split():
            head = "WhisperForConditionalGeneration" if kind == "whisper" else heads[kind]
            head = head if isinstance(head, str) else head[0]
            if kind == "whisper":
                inputs = f"input_features=torch.zeros(2, 80, 3000), {ANSWER}"
            elif family == "translate":
                inputs = f"{TOKENS}, {ANSWER}"
            elif family == "classify images":
                inputs = "pixel_values=torch.zeros(2, 3, {size}, {size})"
            else:
                inputs = TOKENS
            yield family, kind, configs[kind], head, inputs


def loss_of(kind, text):
    """{shape, dtype} of the loss; None where the model takes no labels of that kind, or the loss needs numbers that are in a tensor."""
    import torch

    *build, call, last = text.replace('device = "cpu"', "").splitlines()
    for device in "meta", "cpu":
        names = {"device": device}
        try:
            with torch.device(device), torch.no_grad():
                exec("\n".join(build), names)
                names["m"].set_experts_implementation("batched_mm")
                exec(f"{call}\n{last}", names)
            return {"shape": list(names["loss"].shape), "dtype": str(names["loss"].dtype).removeprefix("torch.")}
        except Exception as error:
            print(f"{kind}, trained on {device}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr)
    return None


def main():
    import torch
    import transformers

    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    for name in dir(torch.nn.init):
        if name.endswith("_") and not name.startswith("_"):
            setattr(torch.nn.init, name, lambda tensor, *_, **__: tensor)
    patterns = sys.argv[1:]
    old = json.loads(FACTS.read_text())["models"] if patterns else []
    models = {model["type"]: model for model in old}
    for family, kind, config, head, inputs in architectures():
        if patterns and not any(fnmatch.fnmatch(kind, pattern) for pattern in patterns):
            continue
        options = OPTIONS.get(kind, "")
        made = getattr(transformers, config)()
        size = getattr(made, "vision_config", made)
        size = getattr(size, "image_size", 224)
        inputs = inputs.format(size=size if isinstance(size, int) else size[0])
        names = {}
        print(kind, flush=True)
        *build, call, last = program(config, options, head, inputs).splitlines()
        for device in "meta", "cpu":
            try:
                with torch.device(device), torch.no_grad():
                    exec("\n".join(build), names)
                    names["m"].set_experts_implementation("batched_mm")  # the others want bfloat16, or ask for numbers
                    exec(f"{call}\n{last}", names)
                break
            except Exception as error:
                print(f"{kind} on {device}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr)
                if device == "cpu" or ".item()" not in str(error) and "device meta" not in str(error):
                    names = {}
                    break
        if "y" not in names:  # what fails here is not asked for there
            continue
        loss = loss_of(kind, training_program(config, options, head, inputs, family))
        result = {"shape": list(names["y"].shape), "dtype": str(names["y"].dtype).removeprefix("torch.")}
        models[kind] = {"family": family, "type": kind, "config": config, "options": options, "model": head, "inputs": inputs, "result": result, "loss": loss}
        lines = ",\n".join("  " + json.dumps(model) for model in models.values())
        versions = json.dumps({"torch": torch.__version__, "transformers": transformers.__version__})
        FACTS.write_text(versions[:-1] + ', "models": [\n' + lines + "\n]}\n")


if __name__ == "__main__":
    main()
