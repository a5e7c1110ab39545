// memory/fragmentation: every iteration of a loop allocates device memory of a random size.
#include "rules/rule.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/training_loops.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::rules::memory::fragmentation {

using namespace interpreter;
using interpreter::Block;
using symbolic::Int;
using values::Kind;
using values::Operation;

namespace {

Int number_of(Value value) {
  if (value.is(Kind::integer)) return value.integer();
  return value.is(Kind::unknown) ? value.as<values::Unknown>()->integer : nullptr;
}

struct Drawn {
  Int number;
  const OperationEvent* event;
  const LoopEvent* loop;
};

void look(const Record& record, Report& report, const Block& block, std::vector<const LoopEvent*>& loops,
    std::vector<Drawn>& drawn, Once& once) {
  const auto inside = [&](const Block& inner) { look(record, report, inner, loops, drawn, once); };
  for (const Event* event : block.events) {
    switch (event->kind) {
    case EventKind::branch:
      inside(static_cast<const BranchEvent*>(event)->yes);
      inside(static_cast<const BranchEvent*>(event)->no);
      break;
    case EventKind::call: inside(static_cast<const CallEvent*>(event)->body); break;
    case EventKind::attempt: inside(static_cast<const AttemptEvent*>(event)->body); break;
    case EventKind::loop: {
      const auto* loop = static_cast<const LoopEvent*>(event);
      loops.push_back(loop);
      for (const Block& iteration : loop->iterations) inside(iteration);
      loops.pop_back();
      break;
    }
    case EventKind::operation: {
      const auto& operation = *static_cast<const OperationEvent*>(event);
      if (loops.empty() || !repeats(*loops.back()) || operation.expected) break;
      if (operation.row->operation == Operation::random_number) {
        if (const Int number = number_of(operation.result);
            number && drawn.size() < values::most_compared_events)
          drawn.push_back({number, &operation, loops.back()});
        break;
      }
      if (operation.row->operation != Operation::created && operation.row->operation != Operation::transfer)
        break;
      if (drawn.empty() || !on_device(operation.made) || !operation.made->shape.ndim_known) break;
      // A tensor that already lies there is not allocated again.
      if (operation.row->operation == Operation::transfer && on_device(operation.self_state())) break;
      for (const values::Dim& dim : operation.made->shape.dims) {
        if (!dim.size) continue;
        const Drawn* by = nullptr;
        record.symbols.atoms(dim.size, [&](Int atom) {
          for (const Drawn& one : drawn)
            if (one.number == atom && std::find(loops.begin(), loops.end(), one.loop) != loops.end())
              by = &one;
        });
        if (!by || !once(operation.place)) continue;
        Finding* finding = report.add(Severity::hint, operation.place, operation.calls,
            "Every iteration allocates GPU memory of a different size, which leaves gaps that later requests do not fit in. Allocate the largest size once and use a part of it, or round the size up to a few fixed ones.");
        if (finding) report.relate(*finding, by->event->place, "the size is drawn here");
        break;
      }
      break;
    }
    default: break;
    }
  }
}

void check(const Record& record, Report& report) {
  Once once;
  for (const auto& root : record.roots) {
    if (!any_operation(record, *root, with_operation(Operation::random_number))) continue;
    std::vector<const LoopEvent*> loops;
    std::vector<Drawn> drawn;
    look(record, report, root->block, loops, drawn, once);
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "memory/fragmentation",
    .severity = Severity::hint,
    .summary = "a loop allocates GPU tensors of random sizes",
    .why =
        "PyTorch keeps freed GPU memory in blocks and gives a block out again only where the new tensor fits. Sizes that change in every iteration leave blocks "
        "that fit nothing: memory_reserved() grows although little is in use, until a large allocation fails with \"CUDA out of memory\" while much is free.",
    .wrong = "for step in range(steps):\n"
             "    rows = random.randint(100, 1000)\n"
             "    x = torch.randn(rows, 1024, device=\"cuda\")\n",
    .right = "buffer = torch.empty(1000, 1024, device=\"cuda\")\n"
             "for step in range(steps):\n"
             "    rows = random.randint(100, 1000)\n"
             "    x = buffer[:rows].normal_()\n",
    .silent =
        "Sizes chosen from a few; sizes of the data; tensors on the CPU; single allocations outside a loop.",
    .fix =
        "None: where the memory comes from is a matter of the program's design. `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` lets blocks grow, and so fit more sizes.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::memory::fragmentation
