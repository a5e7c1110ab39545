// The program that the tests of the page look at, and what the page says of it: held against the words of the page
// (words.test.mjs, without a browser) and against the page itself (page.test.mjs).
export const program = `import torch
import torch.nn as nn
import torch.distributed as dist


class Net(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


def share(x):
    for epoch in range(3):
        dist.all_reduce(x)
    if dist.get_rank() > 0:
        dist.recv(x, src=dist.get_rank() - 1)
    if dist.get_rank() < dist.get_world_size() - 1:
        dist.send(x, dst=dist.get_rank() + 1)
    if dist.get_rank() == 0:
        dist.broadcast(x, src=0)
    dist.barrier()


dist.init_process_group("gloo")
share(Net()(torch.zeros(8, 64)))
`;

export const said = {
  summary: /^train\.py · 1 file · 1 error.* · 1 schedule that hangs · stepzero /,
  hang: /^Hang: rank 0 waits in broadcast \(line 24\) for ranks 1–3; ranks 1–3 wait in barrier/,
  loop: /^for epoch in range\(3\) · 3 iterations, 1 step$/,
  step: /^ranks 0–3: all_reduce float32\[8, 64\], line 18, in share$/,
  last: /^never reached/,
  call: "broadcast float32[8, 64] from rank 0",
  flow: ["x gives float32[8, 64] (line 12)", "self.up(x) gives float32[8, 256], from 1 (line 13)"],
  model: "33,088 parameters",
  layer: /^up: Linear\(64, 256\).* 16,640 parameters$/,
};
