"""What Lightning Fabric is asked. It shards on GPUs only: FSDP and DeepSpeed are not asked."""

PACKAGES = ["lightning", "torch"]
IMPORTS = ["lightning", "lightning.fabric", "torch.distributed.checkpoint"]
GUARD = "fabric.is_global_zero"
ENVIRONMENT = {"CUDA_VISIBLE_DEVICES": ""}
SETUP = """
import torch
from lightning.fabric import Fabric
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

fabric = Fabric({options})
fabric.launch()
net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
{setup}
loader = fabric.setup_dataloaders(DataLoader(TensorDataset(torch.ones(8, 4)), batch_size=2, shuffle=True))
x = torch.ones(2, 4)
BEFORE
CALL
"""
BOTH = "model, optimizer = fabric.setup(net, optimizer)"
SETTINGS = {
    "ddp": {"program": SETUP.replace("{options}", 'devices=2, strategy="ddp"').replace("{setup}", BOTH), "prelude": "", "environment": {}},
}
PLAIN = ["ddp"]
TRAINED = "fabric.backward(model(x).sum())"
NORMED = "model = fabric.setup(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)))"
STATE = 'state = {"model": model, "step": 1}'
CALLS = [
    ("fabric.barrier()", PLAIN),
    ("fabric.all_gather(x)", PLAIN),
    ("fabric.all_reduce(x)", PLAIN),
    ("fabric.broadcast(1)", PLAIN),
    ('fabric.save("one.ckpt", state)', PLAIN, STATE),
    ('fabric.load("one.ckpt", state)', PLAIN, STATE + '\nfabric.save("one.ckpt", state)'),
    ('fabric.load_raw("one.pt", net)', PLAIN, 'torch.save(net.state_dict(), "one.pt")\nfabric.barrier()'),
    ("fabric.backward(model(x).sum())"),
    ("model(x)"),
    ("model(x)", PLAIN, NORMED),
    ("model.module(x)", PLAIN, NORMED),
    ("model.state_dict()"),
    ("fabric.clip_gradients(model, optimizer, max_norm=1.0)", None, TRAINED),
    ("fabric.clip_gradients(model, optimizer, clip_val=1.0)", PLAIN, TRAINED),
    ("optimizer.step()", None, TRAINED),
    ("optimizer.zero_grad()", PLAIN, TRAINED),
    ("fabric.setup(nn.Linear(4, 4))", PLAIN),
    ("fabric.setup_module(nn.Linear(4, 4))", PLAIN),
    ("fabric.setup_optimizers(torch.optim.SGD(net.parameters(), lr=0.1))", PLAIN),
    ("fabric.setup_dataloaders(DataLoader(TensorDataset(torch.ones(8, 4))))", PLAIN),
    ("for batch in loader: pass", PLAIN),
    ("with fabric.rank_zero_first(): pass", PLAIN),
    ("with fabric.no_backward_sync(model): pass", PLAIN),
    ("with fabric.autocast(): pass", PLAIN),
    ("with fabric.init_module(): pass", PLAIN),
    ("with fabric.sharded_model(): pass", PLAIN),
    ('fabric.print("text")', PLAIN),
    ('fabric.log("loss", 1.0)', PLAIN),
    ('fabric.log_dict({"loss": 1.0})', PLAIN),
    ('fabric.call("on_end")', PLAIN),
    ("fabric.seed_everything(0)", PLAIN),
    ("fabric.to_device(x)", PLAIN),
    ("fabric.strategy.barrier()", PLAIN),
    ("fabric.strategy.reduce_boolean_decision(True)", PLAIN),
]
RANKS = "fabric.is_global_zero fabric.global_rank fabric.local_rank fabric.node_rank fabric.world_size".split()
QUESTIONS = [
    ("what setup gives back, in the order of its arguments", "ddp", """
tell("answer", [type(each).__name__ for each in (model, optimizer, loader)])
tell("model.module", type(model.module).__name__)
tell("the forward module", type(model._forward_module).__name__)
tell("one module is given back alone", type(fabric.setup(nn.Linear(4, 4))).__name__)
two = fabric.setup(nn.Linear(4, 4), torch.optim.SGD(nn.Linear(4, 4).parameters(), lr=0.1))
tell("with an optimizer, both", type(two).__name__)
tell("setup_optimizers of one", type(fabric.setup_optimizers(torch.optim.SGD(nn.Linear(4, 4).parameters(), lr=0.1))).__name__)
tell("the loader's sampler", type(loader.sampler).__name__)
"""),
    ("who clears, divides and steps", "ddp", """
before = float(net[0].weight.abs().sum())
fabric.backward(model(x).sum())
first = float(net[0].weight.grad.abs().sum())
fabric.backward(model(x).sum())
tell("the gradients of two backwards, of one", round(float(net[0].weight.grad.abs().sum()) / first, 3))
tell("backward steps", float(net[0].weight.abs().sum()) != before)
optimizer.step()
tell("step clears", net[0].weight.grad is None)
tell("step steps", float(net[0].weight.abs().sum()) != before)
optimizer.zero_grad()
tell("zero_grad clears", net[0].weight.grad is None)
"""),
]
