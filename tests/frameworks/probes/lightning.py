"""What Lightning's Trainer is asked. It shards on GPUs only: FSDP and DeepSpeed are not asked."""

PACKAGES = ["lightning", "torch", "torchmetrics"]
IMPORTS = ["lightning", "lightning.pytorch.loggers", "torchmetrics", "torch.distributed.fsdp", "torch.distributed.checkpoint"]
GUARD = "trainer.is_global_zero"
ENVIRONMENT = {"CUDA_VISIBLE_DEVICES": ""}

MODULE = """
import lightning as L
import torch
import torch.distributed as dist
import torchmetrics
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)
        {manual}

    def training_step(self, batch, index):
        loss = self.layer(batch[0]).sum()
        {training}
        return loss

    def validation_step(self, batch, index):
        loss = self.layer(batch[0]).sum()
        {validation}

    def predict_step(self, batch, index):
        return self.layer(batch[0])

    def on_train_epoch_end(self):
        {epoch}

    def configure_optimizers(self):
        return torch.optim.SGD(self.layer.parameters(), lr=0.1)


data = DataLoader(TensorDataset(torch.ones(8, 4)), batch_size=2)
net = Net()
trainer = L.Trainer(devices=2, {options}max_epochs=1, enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False)
{fit}
BEFORE
{after}
"""


def of(where, options='strategy="ddp", ', prelude="", fit="trainer.fit(net, data, data)", guard=None, manual=False):
    text = MODULE
    for place in ("training", "validation", "epoch", "after"):
        call = "BEFORE\n        CALL" if place == where and where != "after" else "CALL" if place == where else "pass"
        text = text.replace("{" + place + "}", call)
    if where != "after":
        text = text.replace("\nBEFORE\n", "\n")
    manual_text = "self.automatic_optimization = False" if manual else "pass"
    text = text.replace("{options}", options).replace("{fit}", fit).replace("{manual}", manual_text)
    return {"program": text, "prelude": prelude, "environment": {}, **({"guard": guard} if guard else {})}


HOOK = "self.trainer.is_global_zero"
SETTINGS = {
    "after fit": of("after"),
    "instead of fit": of("after", fit=""),
    "training_step": of("training", guard=HOOK),
    "training_step, by hand": of("training", guard=HOOK, manual=True),
    "validation_step": of("validation", guard=HOOK),
    "on_train_epoch_end": of("epoch", guard=HOOK),
}
METRIC = "metric = torchmetrics.SumMetric()\nmetric.update(1.0)"
STEP = ["training_step"]
VALIDATION = ["validation_step"]
AFTER = ["after fit"]
CALLS = [
    ("trainer.fit(net, data)", ["instead of fit"]),
    ("trainer.validate(net, data, verbose=False)", AFTER),
    ("trainer.predict(net, data)", AFTER),
    ('trainer.save_checkpoint("last.ckpt")', AFTER),
    ('trainer.save_checkpoint("last.ckpt", weights_only=True)', AFTER),
    ("trainer.log_dir", AFTER),
    ("trainer.logger.log_dir", AFTER),
    ("trainer.strategy.barrier()", AFTER),
    ("trainer.strategy.broadcast(1)", AFTER),
    ("trainer.strategy.reduce(torch.ones(1))", AFTER),
    ("trainer.strategy.all_gather(torch.ones(1))", AFTER),
    ("trainer.strategy.reduce_boolean_decision(True)", AFTER),
    ("trainer.strategy.model.state_dict()", AFTER),
    ("net.state_dict()", AFTER),
    ("trainer.strategy.lightning_module_state_dict()", AFTER),
    ("net.layer(torch.ones(1, 4))", ["after fit"]),
    ('torch.save(net.state_dict(), "one.pt")', AFTER),
    ("trainer.callback_metrics", AFTER),
    ('trainer.logger.log_metrics({"loss": 1.0})', AFTER),
    ("trainer.logger.save()", AFTER),
    ('trainer.print("text")', AFTER),
    ("metric.compute()", AFTER, METRIC),
    ("metric.update(1.0)", AFTER, METRIC),
    ("metric(1.0)", AFTER, METRIC),
    ("metric.reset()", AFTER, METRIC),
    ("metric.compute()", AFTER, "metric = torchmetrics.SumMetric(sync_on_compute=False)\nmetric.update(1.0)"),
    ("metric(1.0)", AFTER, "metric = torchmetrics.SumMetric(dist_sync_on_step=True)"),
    ("metric.sync()", AFTER, METRIC),
    ("metrics.compute()", AFTER, 'metrics = torchmetrics.MetricCollection({"sum": torchmetrics.SumMetric()})\nmetrics.update(1.0)'),
    ("torchmetrics.functional.mean_squared_error(torch.ones(2), torch.ones(2))", AFTER),
    ('self.log("loss", loss)', ["training_step", "validation_step"]),
    ('self.log("loss", loss, sync_dist=True)', ["training_step", "validation_step"]),
    ('self.log("loss", loss, on_step=True, on_epoch=False, sync_dist=True)', STEP),
    ('self.log("loss", loss, on_step=False, on_epoch=True, sync_dist=True)', STEP),
    ('self.log("loss", loss, on_step=False, on_epoch=True)', STEP),
    ('self.log("loss", loss, rank_zero_only=True)', ["training_step", "validation_step"]),
    ('self.log("loss", loss, sync_dist=True, rank_zero_only=True)', STEP),
    ('self.log_dict({"loss": loss})', STEP),
    ('self.log_dict({"loss": loss}, sync_dist=True)', STEP),
    ("self.all_gather(loss)", STEP + VALIDATION),
    ("self.trainer.strategy.barrier()", STEP),
    ("self.trainer.strategy.reduce(loss)", STEP),
    ("self.trainer.log_dir", STEP + ["on_train_epoch_end"]),
    ("self.logger.log_dir", STEP),
    ('self.logger.log_metrics({"loss": 1.0})', STEP),
    ('self.trainer.save_checkpoint("last.ckpt")', ["on_train_epoch_end"]),
    ('self.trainer.callback_metrics.get("loss")', ["on_train_epoch_end"]),
    ('self.print("text")', STEP),
    ("self.layer(batch[0])", STEP + VALIDATION),
    ("self.trainer.model(batch)", VALIDATION),
    ("self.trainer.should_stop = True", STEP),
    ("self.manual_backward(loss)", ["training_step, by hand"]),
    ("self.optimizers().step()", ["training_step, by hand"], "self.manual_backward(loss)"),
    ("self.optimizers().zero_grad()", ["training_step, by hand"]),
    ('self.clip_gradients(self.optimizers(), gradient_clip_val=1.0, gradient_clip_algorithm="norm")', ["training_step, by hand"], "self.manual_backward(loss)"),
    ("self.toggle_optimizer(self.optimizers())", ["training_step, by hand"]),
]
RANKS = """trainer.is_global_zero trainer.global_rank trainer.local_rank trainer.node_rank trainer.world_size trainer.num_devices net.global_rank net.local_rank
    trainer.strategy.is_global_zero trainer.strategy.global_rank trainer.strategy.local_rank trainer.strategy.world_size trainer.local_rank==0""".split()
QUESTIONS = [
    ("automatic optimization clears, runs the backward and steps", "seen from inside", "pass"),
    ("automatic optimization accumulates", "seen from inside, accumulating", "pass"),
    ("what fit makes of the module and of the optimizers", "training_step, by hand", """
if index == 0:
    tell("self.trainer.model", type(self.trainer.model).__name__)
    tell("self.optimizers()", type(self.optimizers()).__name__)
    tell("self.trainer.optimizers", [type(each).__name__ for each in self.trainer.optimizers])
    tell("the train loader's sampler", type(self.trainer.train_dataloader.sampler).__name__)
"""),
    ("rank_zero_only", "after fit", """
from lightning.pytorch.utilities import rank_zero_only
called = []
rank_zero_only(called.append)(1)
tell("runs on this rank", bool(called))
tell("rank_zero_only.rank", rank_zero_only.rank)
"""),
]
WATCHED = """
    def on_before_zero_grad(self, optimizer):
        tell(f"{self.global_step}: zero_grad", True)

    def on_before_backward(self, loss):
        tell(f"{self.global_step}: backward of the loss divided by", round(float(self.loss / loss), 3))

    def on_after_backward(self):
        tell(f"{self.global_step}: gradients after the backward, of one", round(float(self.layer.bias.grad.sum()) / 4, 3))

    def on_before_optimizer_step(self, optimizer):
        tell(f"{self.global_step}: step", True)

    def configure_optimizers"""
INSIDE = of("training", guard=HOOK)
INSIDE["program"] = INSIDE["program"].replace("\n    def configure_optimizers", WATCHED).replace("        return loss", "        self.loss = loss.detach()\n        return loss").replace(
    "max_epochs=1, ", "max_epochs=1, limit_train_batches=2, limit_val_batches=0, ")
ACCUMULATING = {**INSIDE, "program": INSIDE["program"].replace("max_epochs=1, ", "max_epochs=1, accumulate_grad_batches=2, ")}
SETTINGS_OF_QUESTIONS = {"seen from inside": INSIDE, "seen from inside, accumulating": ACCUMULATING}
