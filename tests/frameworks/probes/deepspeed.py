"""What DeepSpeed is asked."""

PACKAGES = ["deepspeed", "torch"]
IMPORTS = ["deepspeed"]
GUARD = "engine.global_rank == 0"
# DeepSpeed would compile a way around gloo.
PRELUDE = """
import importlib
importlib.import_module("deepspeed.comm.torch").build_shm_op = lambda: None
"""
ENVIRONMENT = {"DS_ACCELERATOR": "cpu", "DS_BUILD_OPS": "0"}
SETUP = """
import deepspeed
import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import TensorDataset

deepspeed.init_distributed()
net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
config = {"train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": {steps}, "zero_allow_untested_optimizer": True, "zero_optimization": {"stage": {stage}}}
engine, optimizer, loader, scheduler = deepspeed.initialize(model=net, optimizer=optimizer, lr_scheduler=scheduler, training_data=TensorDataset(torch.ones(8, 4)), config=config)
x = torch.ones(2, 4)
BEFORE
CALL
"""


def of(stage, steps=1):
    return {"program": SETUP.replace("{stage}", str(stage)).replace("{steps}", str(steps)), "prelude": PRELUDE, "environment": {}}


SETTINGS = {f"zero{stage}": of(stage) for stage in range(4)}
SETTINGS["zero3, saved whole"] = of('3, "stage3_gather_16bit_weights_on_model_save": True')
PLAIN = ["zero1"]
ALL = [f"zero{stage}" for stage in range(4)]
TRAINED = "engine.backward(engine(x).sum())"
CALLS = [
    ("deepspeed.initialize(model=nn.Linear(4, 4), config=config)", ["zero0"]),
    ("engine(x)", ALL),
    ("engine.module(x)", ["zero0", "zero3"]),
    ("engine.backward(engine(x).sum())", ["zero0", "zero1", "zero2"]),
    ("engine.backward(loss)", ALL, "loss = engine(x).sum()"),
    ("engine.step()", ALL, TRAINED),
    ("engine.eval()", PLAIN),
    ("engine.train()", PLAIN),
    ("engine.zero_grad()", PLAIN, TRAINED),
    ('engine.save_checkpoint("out")', ALL),
    ('engine.load_checkpoint("out")', ["zero0", "zero1", "zero3"], 'engine.save_checkpoint("out")\ndist.barrier()'),
    ('engine.save_16bit_model("out")', ["zero0", "zero2", "zero3", "zero3, saved whole"]),
    ("engine.module.state_dict()", ["zero0", "zero3"]),
    ("engine.is_gradient_accumulation_boundary()", PLAIN),
    ("engine.get_global_grad_norm()", PLAIN, TRAINED),
    ("engine.get_lr()", PLAIN),
    ("engine.allreduce_gradients()", ["zero0"], TRAINED),
    ("with deepspeed.zero.GatheredParameters(list(net.parameters())): pass", ["zero0", "zero3"]),
    ("next(iter(loader))", PLAIN),
    ("deepspeed.comm.barrier()", PLAIN),
    ("deepspeed.comm.all_reduce(x)", PLAIN),
    ("deepspeed.comm.get_rank()", PLAIN),
    ("engine.destroy()", PLAIN),
    ("scheduler.step()", PLAIN, TRAINED),
    ("safe_get_full_fp32_param(net[0].weight)", ["zero1", "zero3"], "from deepspeed.utils import safe_get_full_fp32_param"),
    ("safe_get_full_grad(net[0].weight)", ["zero1", "zero3"], "from deepspeed.utils import safe_get_full_grad\n" + TRAINED),
]
RANKS = "engine.global_rank engine.local_rank engine.world_size deepspeed.comm.get_rank() deepspeed.comm.get_world_size() deepspeed.comm.get_local_rank()".split()
WORK = """
def gradient():
    grad = net[0].weight.grad
    return None if grad is None else float(grad.abs().sum())
def weights():
    return float(net[0].weight.abs().sum())
def round_of(number):
    before = weights()
    rate = scheduler.get_last_lr()[0]
    scale = engine.backward(engine(x).sum())
    tell(f"{number}: gradients after the backward", round(gradient(), 3) if gradient() is not None else None)
    tell(f"{number}: a boundary", engine.is_gradient_accumulation_boundary())
    engine.step()
    tell(f"{number}: engine.step steps", weights() != before)
    tell(f"{number}: engine.step clears", not gradient())
    tell(f"{number}: engine.step steps the scheduler", scheduler.get_last_lr()[0] != rate)
plain = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
plain.load_state_dict(net.state_dict())
plain(x).sum().backward()
tell("gradients of a plain backward", round(float(plain[0].weight.grad.abs().sum()), 3))
round_of(1)
round_of(2)
"""
QUESTIONS = [
    ("what initialize gives back, in order", "zero1", """
tell("answer", [type(each).__name__ for each in (engine, optimizer, loader, scheduler)])
tell("the engine holds the module", engine.module is net)
"""),
    ("what initialize gives back under ZeRO-3", "zero3", """
tell("answer", [type(each).__name__ for each in (engine, optimizer, loader, scheduler)])
tell("a parameter's own shape", list(net[0].weight.shape))
"""),
    ("who clears, divides and steps", "zero0", WORK),
    ("who clears, divides and steps while accumulating", "accumulating", WORK),
    ("the scheduler without the engine", "zero0", """
rate = scheduler.get_last_lr()[0]
engine.backward(engine(x).sum())
optimizer.step()
tell("the optimizer alone steps the scheduler", scheduler.get_last_lr()[0] != rate)
"""),
]
SETTINGS_OF_QUESTIONS = {"accumulating": of(0, 2)}
