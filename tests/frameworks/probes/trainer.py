"""What the Trainer of transformers is asked."""

PACKAGES = ["transformers", "accelerate", "torch"]
IMPORTS = ["transformers", "accelerate", "torch.distributed.fsdp", "torch.distributed.checkpoint"]
GUARD = "trainer.is_world_process_zero()"
ENVIRONMENT = {"CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1", "DS_ACCELERATOR": "cpu"}
SETUP = """
import torch
import torch.distributed as dist
from torch import nn
from transformers import PretrainedConfig, PreTrainedModel, Trainer, TrainerCallback, TrainingArguments


class Tiny(PreTrainedModel):
    config_class = PretrainedConfig

    def __init__(self, config):
        super().__init__(config)
        self.layer = nn.Linear(4, 2)
        self.post_init()

    def forward(self, x, labels=None):
        logits = self.layer(x)
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return {"x": torch.ones(4), "labels": torch.tensor(1)}


class Callback(TrainerCallback):
    def on_step_end(self, args, state, control, **options):
        {step}


args = TrainingArguments("run", max_steps=2, per_device_train_batch_size=2, report_to="none", disable_tqdm=True, save_strategy="no"{options})
model = Tiny(PretrainedConfig())
trainer = Trainer(model=model, args=args, train_dataset=Data(), eval_dataset=Data(), callbacks=[Callback()])
trainer.train()
BEFORE
{after}
"""


def of(where="after", options="", guard=None):
    text = SETUP.replace("{options}", options)
    text = text.replace("{step}", "CALL" if where == "step" else "pass").replace("{after}", "CALL" if where == "after" else "pass")
    if where != "after":
        text = text.replace("\nBEFORE\n", "\n")
    return {"program": text, "prelude": "", "environment": {"ACCELERATE_USE_CPU": "true"}, **({"guard": guard} if guard else {})}


SETTINGS = {
    "after train": of(),
    "on_step_end": of("step", guard="state.is_world_process_zero"),
}
AFTER = ["after train"]
CALLS = [
    ("trainer.train()", AFTER),
    ("trainer.evaluate()", AFTER),
    ("trainer.predict(Data())", AFTER),
    ('trainer.save_model("out")', AFTER),
    ("trainer.save_state()", AFTER),
    ('trainer.log({"loss": 1.0})', AFTER),
    ('trainer.log_metrics("train", {"loss": 1.0})', AFTER),
    ('trainer.save_metrics("train", {"loss": 1.0})', AFTER),
    ('model.save_pretrained("out")', AFTER),
    ('trainer.model.save_pretrained("out")', AFTER),
    ("trainer.create_model_card()", AFTER),
    ("trainer.get_train_dataloader()", AFTER),
    ("for batch in trainer.get_train_dataloader(): pass", AFTER),
    ("for batch in trainer.get_eval_dataloader(): pass", AFTER),
    ("trainer.accelerator.wait_for_everyone()", AFTER),
    ("trainer.accelerator.gather(torch.ones(1))", AFTER),
    ("trainer.accelerator.unwrap_model(trainer.model)", AFTER),
    ("trainer.is_world_process_zero()", AFTER),
    ("with args.main_process_first(): pass", AFTER),
    ("with args.main_process_first(local=False): pass", AFTER),
    ("trainer.add_callback(Callback())", AFTER),
    ("trainer.model_wrapped(torch.ones(1, 4), torch.tensor([1]))", AFTER),
    ("trainer.model(torch.ones(1, 4), torch.tensor([1]))", AFTER),
    ("control.should_save = True", ["on_step_end"]),
    ("control.should_evaluate = True", ["on_step_end"]),
    ("control.should_training_stop = True", ["on_step_end"]),
    ("control.should_log = True", ["on_step_end"]),
    ("dist.barrier()", ["on_step_end"]),
    ('options["model"].save_pretrained("out")', ["on_step_end"]),
]
RANKS = """args.process_index args.local_process_index args.world_size args.should_save args.should_log args.local_rank trainer.is_world_process_zero()
    trainer.is_local_process_zero() trainer.state.is_world_process_zero trainer.state.is_local_process_zero trainer.accelerator.is_main_process
    trainer.accelerator.process_index trainer.args.process_index""".split()
QUESTIONS = [
    ("what train leaves", "after train", """
tell("trainer.model", type(trainer.model).__name__)
tell("trainer.model_wrapped", type(trainer.model_wrapped).__name__)
tell("trainer.optimizer", type(trainer.optimizer).__name__)
tell("the gradients are cleared", trainer.model.layer.weight.grad is None or not bool(trainer.model.layer.weight.grad.any()))
"""),
]
