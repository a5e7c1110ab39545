// checkpoint/weights-only: what was saved holds objects that torch.load does not make unless it is told to.
#include "interpreter/calls/noted_at.hpp"
#include "rules/checkpoint/files.hpp"
#include "rules/classes.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"

#include <algorithm>

namespace stepzero::rules::checkpoint::weights_only {

using namespace interpreter;
using values::Kind;

namespace {

bool is_a(Value value, std::string_view path) {
  const auto* object = value.as<Instance>();
  return derives(object->cls ? object->cls->native : object->native, path);
}

// What PyTorch 2.13 refuses among objects of libraries, and how that is called.
struct Refused {
  std::string_view path, words;
};
constexpr Refused refused[] = {
    {"torch.nn.Module", "a module"},
    {"torch.optim.Optimizer", "an optimizer"},
    {"torch.optim.lr_scheduler.LRScheduler", "a scheduler"},
    {"argparse.Namespace", "an `argparse.Namespace`"},
};
// The object in what is saved that only a load of everything makes: "the module `model`"; empty if none is
// known.
std::string refused_in(Value value, int depth = 0) {
  constexpr int deepest = 4;  // dicts in lists in dicts of what is saved
  if (depth > deepest) return {};
  if (value.is(Kind::dict)) {
    for (const auto& [key, item] : values::Heap::dict_state(value)->items)
      if (const std::string found = refused_in(item, depth + 1); !found.empty())
        return found + (depth == 0 && key.is(Kind::string) ? " under `" + std::string(key.text()) + "`" : "");
    return {};
  }
  if (value.is(Kind::list) || value.is(Kind::tuple)) {
    for (const Value& item :
        value.is(Kind::list) ? values::Heap::list_state(value)->items : value.as<values::Tuple>()->items)
      if (const std::string found = refused_in(item, depth + 1); !found.empty()) return found;
    return {};
  }
  if (!value.is(Kind::instance)) return {};
  const auto* object = value.as<Instance>();
  if (object->symbolic) return {};
  for (const Refused& each : refused)
    if (is_a(value, each.path)) return std::string(each.words);
  // A class of the program that says itself how it is written may be written as something else.
  if (!object->cls || object->cls->native || object->cls->open || object->cls->holds != Kind::absent ||
      object->cls->is_enum)
    return {};
  const auto writes_itself = [](const values::Class* each) {
    return each->body && std::ranges::any_of(each->body->names.entries(), [](const auto& entry) {
      return entry.first.text().starts_with("__reduce") || entry.first.text() == "__getstate__";
    });
  };
  return std::ranges::any_of(object->cls->order, writes_itself)
      ? std::string()
      : "an object of `" + std::string(object->cls->name.text()) + "`";
}

// What the text says of `weights_only`: nothing, or true. Else nothing is known to be refused.
enum class Asked : std::uint8_t { no, nothing, yes };
Asked asks(const Record& record, const OperationEvent& load) {
  // Another pickle makes what it likes.
  if (const Value pickle = argument(load, "pickle_module"); pickle && !pickle.is(Kind::none))
    return Asked::no;
  const Value given = argument(load, "weights_only");
  if (!given || given.is(Kind::none)) return Asked::nothing;
  return given.is(Kind::boolean) && record.symbols.decide(given.condition()) == Answer::yes ? Asked::yes
                                                                                            : Asked::no;
}

void look_at(
    const Record& record, Report& report, const CheckpointRoot& checkpoint_root, const FileUse& load) {
  const Asked asked = asks(record, *load.event);
  if (load.guarded || asked == Asked::no) return;
  const auto saves = writers(record, checkpoint_root, path_of(record, load));
  std::string what;
  for (const FileUse* save : saves) {
    what = refused_in(saved_object(*save));
    if (what.empty()) return;
  }
  if (what.empty()) return;
  Finding* finding = report.add(asked == Asked::yes ? Severity::error : Severity::warning, load.event->place,
      load.event->calls,
      std::string(asked == Asked::yes ? "" : "Since PyTorch 2.6, `weights_only=True` is the default, and ") +
          (asked == Asked::yes ? "This file holds " : "this file holds ") + what +
          ", which is more than weights: `torch.load` raises \"Weights only load failed\". Save its `state_dict` or its fields, or pass `weights_only=False` for a file that you trust.");
  if (!finding) return;
  report.relate(*finding, saves[0]->event->place, "saved here");
  if (asked == Asked::yes || !load.event->expr || !record.in_file(load.event->place)) return;
  const auto end = load.event->expr->span.end - 1;
  Fix fix;
  fix.title = "Load everything: it runs code of the file";
  fix.edits.push_back({report.location({load.event->place.chunk, {end, end}}), ", weights_only=False"});
  finding->fixes.push_back(std::move(fix));
}

void check(const Record& record, Report& report) {
  // Somewhere the program names what may be made.
  if (interpreter::is_noted(record, "torch.serialization.safe_globals")) return;
  std::vector<Place> told;
  for (const CheckpointRoot& checkpoint_root : Files::of(record).checkpoint_roots()) {
    if (checkpoint_root.root->truncated) continue;
    for (const FileUse& load : checkpoint_root.loads) {
      if (std::find(told.begin(), told.end(), load.event->place) != told.end()) continue;
      told.push_back(load.event->place);
      look_at(record, report, checkpoint_root, load);
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "checkpoint/weights-only",
    .severity = Severity::error,
    .summary = "a file that holds more than weights is loaded where only weights are allowed",
    .why =
        "A pickle runs code when it is read, so since PyTorch 2.6 torch.load makes tensors and plain containers only, unless it is told otherwise. A checkpoint that was written "
        "as a whole model, or that keeps the parsed arguments beside the weights, is written without a word and refused when the job resumes: \"Weights only load failed\".",
    .wrong = "torch.save({\"model\": model.state_dict(), \"args\": args}, \"last.pt\")\n"
             "checkpoint = torch.load(\"last.pt\", map_location=\"cpu\")\n",
    .right = "torch.save({\"model\": model.state_dict(), \"args\": vars(args)}, \"last.pt\")\n"
             "checkpoint = torch.load(\"last.pt\", map_location=\"cpu\")\n",
    .silent =
        "Files that this program does not write; tensors, states, numbers, texts, and lists, dicts and sets of them; `weights_only=False`; classes that the program allows with "
        "`add_safe_globals`; loads in a try.",
    .fix = "Adds `weights_only=False`, which is a decision: the file may run any code.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::checkpoint::weights_only
