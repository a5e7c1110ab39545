// Functions that a function makes and hands out: to unseen code, in a container, as its result. Nobody in the
// file calls them, so they are run where the function has ended, on symbols, with what they captured as it is
// then.
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/incremental/incremental_run.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/paths/speculation.hpp"
#include "interpreter/roots/root_runner.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using values::Kind;

namespace {
constexpr std::size_t most_closures = 12;  // of one root: who makes more makes a table of small ones
}

void RootRunner::note_closure(values::Function& function) {
  if (function.owner || !function.closure || function.closure->globals == function.closure) return;
  made_under_.erase(&function);
  for (const Cond taken : run_.path_) {
    Cond& under = made_under_.try_emplace(&function, taken).first->second;
    under = symbols().logical_and(under, taken);
  }
  if (!run_.in_roots_) return;
  const auto same = [&](const values::Function* each) { return each->stmt == function.stmt; };
  std::erase_if(closures_, same);
  closures_.push_back(&function);
}

void RootRunner::run_closures(const std::vector<values::Function*>& made) {
  if (made.empty()) return;
  // Any of them may have been called before, and have changed what they share.
  Speculation called_before(run_);
  for (values::Function* each : made) run_.unseen_->escape(Value::of(Kind::function, each));
  for (std::size_t i = 0; i < std::min(made.size(), most_closures); ++i) {
    const auto under = made_under_.find(made[i]);
    run_root(*made[i], {}, nullptr, under == made_under_.end() ? Cond{} : under->second);
  }
  called_before.keep_new_objects();
}

// After all others, which may call them. Statements that bind names alone, as functions with decorators do,
// are run in place after an edit, without what follows from them.
void RootRunner::run_closures_of_statements() {
  const auto& items = run_.incremental_->replay().items;
  std::vector<values::Function*> made;
  std::vector<bool> reached_before;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].pure) continue;
    const std::size_t end = i + 1 < items.size() ? items[i + 1].before.functions
                                                 : run_.incremental_->replay().end.functions;
    for (std::size_t at = items[i].before.functions; at < end; ++at) {
      // The first one that was made of its statement: others may come from roots.
      values::Function* function = run_.function_order_[at];
      if (function->owner || !function->closure || function->closure->globals == function->closure) continue;
      reached_before.push_back(reached(function->stmt));
      if (!reached_before.back()) made.push_back(function);
    }
  }
  if (!made.empty() || !reached_before.empty())
    run_.incremental_->run_unit({&closures_, false}, reached_before, [this, &made] { run_closures(made); });
}

}  // namespace stepzero::interpreter
