#include "rules/checkpoint/files.hpp"

#include <algorithm>
#include <typeindex>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

class Collect {
public:
  explicit Collect(CheckpointRoot& checkpoint_root) : checkpoint_root_(checkpoint_root) {}

  void block(const Block& events) {
    for (const Event* event : events.events) {
      switch (event->kind) {
      case EventKind::operation: operation(*static_cast<const OperationEvent*>(event)); break;
      case EventKind::branch: {
        const auto* branch = static_cast<const BranchEvent*>(event);
        for (const bool yes : {true, false}) {
          turns_.push_back({branch, yes});
          block(yes ? branch->yes : branch->no);
          turns_.pop_back();
        }
        break;
      }
      case EventKind::loop:
        loops_.push_back(static_cast<const LoopEvent*>(event));
        for (const Block& iteration : static_cast<const LoopEvent*>(event)->iterations) block(iteration);
        loops_.pop_back();
        break;
      case EventKind::call: block(static_cast<const CallEvent*>(event)->body); break;
      case EventKind::attempt: {
        const auto* attempt = static_cast<const AttemptEvent*>(event);
        guards_ += !attempt->handlers.empty();
        block(attempt->body);
        for (const Block& handler : attempt->handlers) block(handler);
        guards_ -= !attempt->handlers.empty();
        block(attempt->orelse);
        block(attempt->finally);
        break;
      }
      default: break;
      }
    }
  }

private:
  void operation(const OperationEvent& event) {
    const auto keep = [&](std::vector<FileUse>& list) {
      list.push_back({&event, loops_, turns_, guards_ > 0 || event.expected, order_++});
    };
    switch (event.row->operation) {
    case Operation::save: keep(checkpoint_root_.saves); break;
    case Operation::load: keep(checkpoint_root_.loads); break;
    case Operation::part_read: keep(checkpoint_root_.reads); break;
    case Operation::state_taken: keep(checkpoint_root_.taken); break;
    case Operation::state_put: keep(checkpoint_root_.put); break;
    case Operation::file_moved: keep(checkpoint_root_.moves); break;
    case Operation::optimizer_step:
    case Operation::scaler_step: keep(checkpoint_root_.steps); break;
    case Operation::scaler_update:
    case Operation::scheduler_step: keep(checkpoint_root_.updates); break;
    case Operation::optimizer_made:
    case Operation::scheduler_made:
    case Operation::scaler_made: keep(checkpoint_root_.made); break;
    case Operation::backward: checkpoint_root_.trains = true; break;
    case Operation::sharded:
    case Operation::parallel_forward: keep(checkpoint_root_.parallel); break;
    case Operation::framework: checkpoint_root_.handed_over = true; break;
    case Operation::collective:
      // A model that is wrapped for many ranks.
      if (event.row->kind == values::RowKind::class_) keep(checkpoint_root_.parallel);
      break;
    default: break;
    }
  }

  CheckpointRoot& checkpoint_root_;
  std::vector<const LoopEvent*> loops_;
  std::vector<Turn> turns_;
  int guards_ = 0;
  std::size_t order_ = 0;
};

Value argument_at(const FileUse& use, std::size_t i) {
  return i < use.event->arguments.size() ? use.event->arguments[i] : Value{};
}

// The n-th argument as the program writes it.
std::string text_of(const Record& record, const FileUse& use, std::size_t i, std::string_view keyword) {
  const syntax::CallExpr* call = use.event->expr;
  if (!call) return {};
  for (const syntax::Expr* argument : call->arguments)
    if (argument->kind == syntax::ExprKind::starred) return {};
  const syntax::Expr* found = i < call->arguments.size() ? call->arguments[i] : nullptr;
  for (const syntax::Keyword& each : call->keywords)
    if (each.name.text() == keyword) found = each.value;
  return found ? std::string(record.text({use.event->place.chunk, found->span})) : std::string();
}

Path path_at(const Record& record, const FileUse& use, std::size_t i, std::string_view keyword) {
  return {argument_at(use, i), text_of(record, use, i, keyword), use.event->calls, use.event->place.chunk};
}

Who who_comes(const Record& record, const interpreter::Root& root, const OperationEvent* event) {
  Walk walk;
  walk.wanted = [&](const OperationEvent& each) { return &each == event; };
  bool together = false, apart = false;
  const bool explored = explore(record, root.block, {{0, 2}, {1, 2}}, walk, [&](const Run& run) {
    bool here[2] = {};
    for (std::size_t rank = 0; rank < 2 && rank < run.size(); ++rank)
      for (const Step& step : run[rank]) here[rank] = here[rank] || step.event == event;
    together = together || (here[0] && here[1]);
    apart = apart || here[0] != here[1];
  });
  if (!explored) return Who::none;
  if (!together) return apart ? Who::one : Who::none;
  return apart ? Who::some : Who::both;
}

}  // namespace

const Files& Files::of(const Record& record) {
  auto& known = record.derived[std::type_index(typeid(Files))];
  if (!known) known = std::make_shared<const Files>(record);
  return *static_cast<const Files*>(known.get());
}

Files::Files(const Record& record) {
  for (const auto& root : record.roots) {
    CheckpointRoot checkpoint_root;
    checkpoint_root.root = root.get();
    if (!any_operation(record, *root, with_operation(Operation::save, Operation::load, Operation::state_put)))
      continue;
    Collect(checkpoint_root).block(root->block);
    if (!checkpoint_root.saves.empty() || !checkpoint_root.loads.empty() ||
        (!checkpoint_root.taken.empty() && !checkpoint_root.put.empty()))
      checkpoint_roots_.push_back(std::move(checkpoint_root));
  }
}

Value saved_object(const FileUse& save) { return argument_at(save, 0); }

Path path_of(const Record& record, const FileUse& use) {
  return use.event->row->operation == Operation::save ? path_at(record, use, 1, "f")
                                                      : path_at(record, use, 0, "f");
}

bool is_moved(const Record& record, const CheckpointRoot& checkpoint_root, const FileUse& save) {
  const Path path = path_of(record, save);
  return std::any_of(checkpoint_root.moves.begin(), checkpoint_root.moves.end(), [&](const FileUse& move) {
    return move.order > save.order && same_file(path_at(record, move, 0, "src"), path);
  });
}

Path final_path(const Record& record, const CheckpointRoot& checkpoint_root, const FileUse& save) {
  Path path = path_of(record, save);
  for (const FileUse& move : checkpoint_root.moves)
    if (move.order > save.order && same_file(path_at(record, move, 0, "src"), path))
      return path_at(record, move, 1, "dst");
  return path;
}

bool same_file(const Path& a, const Path& b) {
  if (a.value.is(Kind::string) && b.value.is(Kind::string)) return a.value.text() == b.value.text();
  if ((a.value.is(Kind::unknown) || a.value.is(Kind::instance)) && a.value == b.value) return true;
  // In one call of a function the same words mean the same path.
  return !a.text.empty() && a.text == b.text && a.calls == b.calls && a.chunk == b.chunk &&
      !a.value.is(Kind::string) && !b.value.is(Kind::string);
}

bool is_fixed(const Record& record, const Path& path) {
  if (path.value.is(Kind::string)) return true;
  if (!path.value.is(Kind::unknown) && !path.value.is(Kind::instance)) return false;
  // Made where it is used, it may be another each time.
  (void)record;
  return path.text.find_first_of("{%(+/") == std::string::npos && !path.text.empty();
}

const FileUse* state_of(const CheckpointRoot& checkpoint_root, Value value) {
  if (!value.is(Kind::unknown) && !value.is(Kind::dict)) return nullptr;
  for (const FileUse& taken : checkpoint_root.taken)
    if (taken.event->result == value) return &taken;
  return nullptr;
}

Loaded loaded_from(const CheckpointRoot& checkpoint_root, Value value) {
  for (const FileUse& load : checkpoint_root.loads)
    if (load.event->result == value) return {&load, {}};
  if (!value.object()) return {};
  for (const FileUse& read : checkpoint_root.reads)
    if (read.event->result == value)
      for (const FileUse& load : checkpoint_root.loads)
        if (load.event->result == read.event->self) return {&load, argument_at(read, 0)};
  return {};
}

bool among_ranks(const CheckpointRoot& checkpoint_root, const FileUse& use) {
  const auto is_instead = [&](const FileUse& other) {
    return std::ranges::any_of(other.turns, [&](const Turn& turn) {
      return std::ranges::any_of(
          use.turns, [&](const Turn& own) { return turn.branch == own.branch && turn.yes != own.yes; });
    });
  };
  return !std::ranges::all_of(checkpoint_root.parallel, is_instead);
}

Who by_ranks(const Record& record, const CheckpointRoot& checkpoint_root, const FileUse& use) {
  return who_comes(record, *checkpoint_root.root, use.event);
}

std::vector<const FileUse*> writers(
    const Record& record, const CheckpointRoot& checkpoint_root, const Path& path) {
  std::vector<const FileUse*> found;
  for (const FileUse& save : checkpoint_root.saves)
    if (same_file(final_path(record, checkpoint_root, save), path)) found.push_back(&save);
  const auto same_value = [&](Value value) {
    return path.value.is(values::Kind::string) && value.is(values::Kind::string)
        ? value.text() == path.value.text()
        : value == path.value;
  };
  if (!found.empty() || (!path.value.is(values::Kind::string) && !path.value.is(values::Kind::unknown)))
    return found;
  for (const CheckpointRoot& other : Files::of(record).checkpoint_roots())
    for (const FileUse& save : other.saves)
      if (&other != &checkpoint_root && !other.root->truncated &&
          same_value(final_path(record, other, save).value))
        found.push_back(&save);
  return found;
}

}  // namespace stepzero::rules
