"""What Accelerate is asked."""

PACKAGES = ["accelerate", "torch", "deepspeed"]
IMPORTS = ["accelerate", "accelerate.utils", "deepspeed", "torch.distributed.fsdp", "torch.distributed.checkpoint"]
GUARD = "accelerator.is_main_process"

# DeepSpeed would compile a way around gloo.
NO_SHORTCUT = """
import importlib
importlib.import_module("deepspeed.comm.torch").build_shm_op = lambda: None
"""
# Accelerate shards on GPUs only; what it calls is the same on a CPU.
AS_ON_GPUS = """
import torch
from accelerate.state import DistributedType, PartialState
PartialState._prepare_backend = lambda self, *arguments, **options: ("gloo", DistributedType.MULTI_GPU)
PartialState.set_device = lambda self: setattr(self, "device", torch.device("cpu"))
"""
ENVIRONMENT = {"DS_ACCELERATOR": "cpu", "DS_BUILD_OPS": "0"}

SETUP = """
import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from accelerate import Accelerator
from accelerate.utils import {names}

accelerator = Accelerator({options})
net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.ones(8, 4)), batch_size=2, shuffle=True)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
model, optimizer, loader, scheduler = accelerator.prepare(net, optimizer, loader, scheduler)
x = torch.ones(2, 4)
BEFORE
CALL
"""


def of(options, names="ProjectConfiguration", prelude="", environment=None):
    return {"program": SETUP.replace("{options}", options).replace("{names}", names), "prelude": prelude, "environment": environment or {}}


CPU = {"ACCELERATE_USE_CPU": "true"}
SETTINGS = {
    "ddp": of("", environment=CPU),
    "ddp, states named by itself": of('project_config=ProjectConfiguration(project_dir="run", automatic_checkpoint_naming=True)', environment=CPU),
    "fsdp2": of("fsdp_plugin=FullyShardedDataParallelPlugin(fsdp_version=2)", "FullyShardedDataParallelPlugin", AS_ON_GPUS),
    "zero2": of('deepspeed_plugin=DeepSpeedPlugin(zero_stage=2)', "DeepSpeedPlugin", NO_SHORTCUT + AS_ON_GPUS),
    "zero3": of('deepspeed_plugin=DeepSpeedPlugin(zero_stage=3)', "DeepSpeedPlugin", NO_SHORTCUT + AS_ON_GPUS),
}
PLAIN = ["ddp"]
EACH = ["ddp", "fsdp2", "zero2", "zero3"]
NORMED = """
net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
model = accelerator.prepare(net)
"""
TRAINED = "accelerator.backward(model(x).sum())"
# The call, the settings (all, if none is named), what comes before it.
CALLS = [
    ("accelerator.wait_for_everyone()", PLAIN),
    ("accelerator.gather(x)", PLAIN),
    ("accelerator.gather_for_metrics(x)", PLAIN),
    ("accelerator.gather_for_metrics([1], use_gather_object=True)", PLAIN),
    ("accelerator.reduce(x)", PLAIN),
    ("accelerator.pad_across_processes(x)", PLAIN),
    ('accelerator.save_state("state")', ["ddp", "fsdp2", "zero2", "zero3"]),
    ("accelerator.save_state()", ["ddp, states named by itself"]),
    ('accelerator.load_state("state")', ["ddp", "fsdp2", "zero2"], 'accelerator.save_state("state")\ndist.barrier()'),
    ('accelerator.save_model(model, "out")', ["ddp", "fsdp2", "zero2"]),
    ('accelerator.save_model(model, "out", safe_serialization=False)', ["ddp", "fsdp2"]),
    ("accelerator.get_state_dict(model)", ["ddp", "fsdp2", "zero2"]),
    ("accelerator.unwrap_model(model)", ["ddp", "fsdp2"]),
    ("accelerator.unwrap_model(model)(x)", ["ddp", "zero2"]),
    ("accelerator.unwrap_model(model).state_dict()", ["ddp", "fsdp2", "zero2"]),
    ("model.state_dict()", ["ddp", "fsdp2", "zero2"]),
    ('accelerator.save(x, "one.pt")', PLAIN),
    ('accelerator.print("text")', PLAIN),
    ('accelerator.init_trackers("run")', PLAIN),
    ('accelerator.log({"loss": 1.0})', PLAIN, 'accelerator.init_trackers("run")'),
    ("accelerator.end_training()", PLAIN),
    ("accelerator.free_memory()", PLAIN),
    ("accelerator.clear()", PLAIN),
    ("accelerator.backward(model(x).sum())", EACH),
    ("model(x)", EACH),
    ("model(x)", PLAIN, NORMED),
    ("accelerator.clip_grad_norm_(model.parameters(), 1.0)", ["ddp", "fsdp2", "zero2"], TRAINED),
    ("accelerator.clip_grad_value_(model.parameters(), 1.0)", PLAIN, TRAINED),
    ("accelerator.unscale_gradients()", PLAIN, TRAINED),
    ("optimizer.step()", EACH, TRAINED),
    ("optimizer.zero_grad()", ["ddp", "fsdp2", "zero2"], TRAINED),
    ("scheduler.step()", PLAIN, TRAINED + "\noptimizer.step()"),
    ("accelerator.set_trigger()", PLAIN),
    ("accelerator.check_trigger()", PLAIN),
    ("accelerator.register_for_checkpointing(scheduler)", PLAIN),
    ("accelerator.prepare(nn.Linear(4, 4))", PLAIN),
    ("accelerator.prepare_model(nn.Linear(4, 4))", PLAIN),
    ("accelerator.prepare_model(nn.Linear(4, 4), evaluation_mode=True)", PLAIN),
    ("accelerator.prepare(torch.optim.SGD(net.parameters(), lr=0.1))", PLAIN),
    ("accelerator.prepare_optimizer(torch.optim.SGD(net.parameters(), lr=0.1))", PLAIN),
    ("accelerator.prepare(DataLoader(TensorDataset(torch.ones(8, 4))))", PLAIN),
    ("next(iter(loader))", PLAIN),
    ("for batch in loader: pass", PLAIN),
    ("for batch in evaluated: pass", PLAIN, "evaluated = accelerator.prepare(DataLoader(TensorDataset(torch.ones(8, 4)), batch_size=2))"),
    ("for batch in evaluated: pass", ["ddp, states named by itself"], "evaluated = accelerator.prepare_data_loader(DataLoader(TensorDataset(torch.ones(8, 4)), batch_size=2, shuffle=True))"),
    ("len(loader)", PLAIN),
    ("accelerator.skip_first_batches(loader, 1)", PLAIN),
    ("with accelerator.main_process_first(): pass", PLAIN),
    ("with accelerator.local_main_process_first(): pass", PLAIN),
    ("with accelerator.split_between_processes([1, 2]): pass", PLAIN),
    ("with accelerator.accumulate(model): pass", PLAIN),
    ("with accelerator.no_sync(model): pass", PLAIN),
    ("with accelerator.autocast(): pass", PLAIN),
    ("with accelerator.join_uneven_inputs([model]): pass", PLAIN),
    ("accelerator.state.wait_for_everyone()", PLAIN),
    ("PartialState().wait_for_everyone()", PLAIN, "from accelerate import PartialState"),
    ("with PartialState().main_process_first(): pass", PLAIN, "from accelerate import PartialState"),
    ("with PartialState().local_main_process_first(): pass", PLAIN, "from accelerate import PartialState"),
    ("gather(x)", PLAIN, "from accelerate.utils import gather"),
    ("gather_object([1])", PLAIN, "from accelerate.utils import gather_object"),
    ("broadcast(x)", PLAIN, "from accelerate.utils import broadcast"),
    ("broadcast_object_list([1])", PLAIN, "from accelerate.utils import broadcast_object_list"),
    ("reduce(x)", PLAIN, "from accelerate.utils import reduce"),
    ("pad_across_processes(x)", PLAIN, "from accelerate.utils import pad_across_processes"),
    ("wait_for_everyone()", PLAIN, "from accelerate.utils import wait_for_everyone"),
    ("set_seed(0)", PLAIN, "from accelerate.utils import set_seed"),
    ("extract_model_from_parallel(model)", PLAIN, "from accelerate.utils import extract_model_from_parallel"),
    ('save(x, "one.pt")', PLAIN, "from accelerate.utils import save"),
    ("synchronize_rng_states(['torch'])", PLAIN, "from accelerate.utils import synchronize_rng_states"),
]
# Which members tell the ranks apart: the same question on two ranks.
RANKS = """accelerator.is_main_process accelerator.is_local_main_process accelerator.is_last_process accelerator.process_index accelerator.local_process_index
    accelerator.num_processes accelerator.use_distributed accelerator.sync_gradients accelerator.gradient_accumulation_steps accelerator.state.is_main_process
    accelerator.state.is_local_main_process accelerator.state.process_index accelerator.state.local_process_index accelerator.state.num_processes""".split()
QUESTIONS = [
    ("what prepare gives back, in the order of its arguments", "ddp", """
tell("answer", [type(each).__name__ for each in (model, optimizer, loader, scheduler)])
tell("the same optimizer inside", isinstance(optimizer, torch.optim.Optimizer) and type(optimizer.optimizer).__name__)
tell("one argument is given back alone", type(accelerator.prepare(nn.Linear(4, 4))).__name__)
tell("what is none of these is given back as it is", accelerator.prepare(7))
"""),
    ("what prepare gives back under fsdp2", "fsdp2", """
tell("answer", [type(each).__name__ for each in (model, optimizer, loader, scheduler)])
tell("the module itself is sharded", model is net)
"""),
    ("what prepare gives back under ZeRO", "zero2", """
tell("answer", [type(each).__name__ for each in (model, optimizer, loader, scheduler)])
"""),
    ("accumulation", "accumulating", """
def gradient():
    return float(net[0].weight.grad.abs().sum()) if net[0].weight.grad is not None else None
plain = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
plain.load_state_dict(net.state_dict())
plain(x).sum().backward()
whole = float(plain[0].weight.grad.abs().sum())
before = float(net[0].weight.abs().sum())
rates = []
with accelerator.accumulate(model):
    accelerator.backward(model(x).sum())
    tell("backward divides the loss by the accumulation steps", round(whole / gradient(), 3))
    tell("sync_gradients in the first of two rounds", accelerator.sync_gradients)
    optimizer.step()
    tell("the prepared optimizer steps while accumulating", float(net[0].weight.abs().sum()) != before)
    optimizer.zero_grad()
    tell("its zero_grad clears while accumulating", gradient() is None)
with accelerator.accumulate(model):
    accelerator.backward(model(x).sum())
    tell("sync_gradients in the last round", accelerator.sync_gradients)
    tell("the gradients of both rounds are there", round(gradient() / whole, 3))
    optimizer.step()
    tell("it steps in the last round", float(net[0].weight.abs().sum()) != before)
    tell("the step clears", gradient() is None)
    optimizer.zero_grad()
    tell("zero_grad clears in the last round", gradient() is None)
"""),
    ("without the context", "accumulating", """
def gradient():
    return float(net[0].weight.grad.abs().sum()) if net[0].weight.grad is not None else None
plain = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
plain.load_state_dict(net.state_dict())
plain(x).sum().backward()
whole = float(plain[0].weight.grad.abs().sum())
accelerator.backward(model(x).sum())
tell("backward divides the loss without accumulate, too", round(whole / gradient(), 3))
tell("sync_gradients without accumulate", accelerator.sync_gradients)
before = float(net[0].weight.abs().sum())
optimizer.step()
tell("the optimizer steps without accumulate", float(net[0].weight.abs().sum()) != before)
tell("step clears", gradient() is None)
"""),
    ("a scheduler", "ddp", """
rate = optimizer.param_groups[0]["lr"]
accelerator.backward(model(x).sum())
optimizer.step()
tell("the optimizer's step steps the scheduler", optimizer.param_groups[0]["lr"] != rate)
before = scheduler.scheduler.last_epoch
scheduler.step()
tell("a prepared scheduler steps so often as there are processes", scheduler.scheduler.last_epoch - before)
"""),
]
SETTINGS_OF_QUESTIONS = {"accumulating": of("gradient_accumulation_steps=2", environment=CPU)}
