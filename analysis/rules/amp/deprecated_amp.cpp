// amp/deprecated-api: names of torch.cuda.amp and torch.cpu.amp, which moved to torch.amp.
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules::amp::deprecated_amp {

using values::code;

using namespace interpreter;

namespace {

// Calls in order, but for those after an `if` or a `try`: there the program chooses by the version.
void look(const Block& block, const std::function<void(const OperationEvent&)>& each) {
  for (const Event* event : block.events) switch (event->kind) {
    case EventKind::operation: each(*static_cast<const OperationEvent*>(event)); break;
    case EventKind::loop:
      for (const Block& iteration : static_cast<const LoopEvent*>(event)->iterations) look(iteration, each);
      break;
    case EventKind::call: look(static_cast<const CallEvent*>(event)->body, each); break;
    case EventKind::branch:
      if (const auto* branch = static_cast<const BranchEvent*>(event); !branch->stmt) {
        look(branch->yes, each);
        look(branch->no, each);
      }
      break;
    default: break;
    }
}

// The call with the new name, where the program writes the old one out.
std::optional<Fix> renamed(const Record& record, const Report& report, const OperationEvent& event) {
  const values::MovedName& moved = *event.row->moved;
  if (!event.expr || record.text({event.place.chunk, event.expr->function->span}) != event.row->path)
    return std::nullopt;
  const bool alone = event.expr->arguments.empty() && event.expr->keywords.empty();
  const std::string device = "\"" + std::string(moved.device) + "\"";
  Fix fix;
  fix.title = "Use " + std::string(moved.to) + "(" + device + ")";
  fix.edits.push_back(
      {report.location({event.place.chunk, event.expr->function->span}), std::string(moved.to)});
  const auto open = event.expr->function->span.end + 1;
  fix.edits.push_back({report.location({event.place.chunk, {open, open}}), device + (alone ? "" : ", ")});
  return fix;
}

void check(const Record& record, Report& report) {
  Once once;
  std::set<std::string_view> told;  // names that are called by a short name are told once
  for (const auto& root : record.roots)
    look(root->block, [&](const OperationEvent& event) {
      const values::MovedName* moved = event.row->moved;
      if (!moved || !record.in_file(event.place)) return;
      auto fix = renamed(record, report, event);
      if ((!fix && !told.insert(event.row->path).second) || !once(event.place)) return;
      Finding* finding = report.add(Severity::hint, event.place, nullptr,
          code(event.row->path) + " is deprecated since PyTorch " + std::string(moved->since) + ". Use " +
              code(moved->to) + ", which takes the device as its first argument.");
      if (finding && fix) finding->fixes.push_back(std::move(*fix));
    });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "amp/deprecated-api",
    .severity = Severity::hint,
    .summary = "names of torch.cuda.amp and torch.cpu.amp, which moved to torch.amp",
    .why =
        "Since PyTorch 2.4 `torch.cuda.amp.autocast(args...)` and its like print a FutureWarning and will go: `torch.amp` has the same names for every "
        "device, which is their first argument.",
    .wrong = "scaler = torch.cuda.amp.GradScaler()\n"
             "with torch.cuda.amp.autocast():\n"
             "    loss = loss_fn(model(x), y)\n",
    .right = "scaler = torch.amp.GradScaler(\"cuda\")\n"
             "with torch.amp.autocast(\"cuda\"):\n"
             "    loss = loss_fn(model(x), y)\n",
    .silent = "Names under a `try` or an `if`, by which programs choose for older versions.",
    .fix =
        "Uses the name of torch.amp with the device; offered only, because it needs PyTorch 2.3 (GradScaler) or 1.10.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::amp::deprecated_amp
