// memory/eval-graph: a model in evaluation is called once in each iteration of training, and its graph stays
// until the next.
#include "footprint/text.hpp"
#include "rules/memory/steps.hpp"
#include "rules/source.hpp"
#include "rules/training/evaluation.hpp"
#include "rules/training/training_loops.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::memory::eval_graph {

using values::code;

using namespace interpreter;
using footprint::Account;
using values::Kind;
using values::Known;
using values::Operation;
using values::TensorState;

namespace {

// The operations after what backward passes go through.
constexpr std::size_t most_of_evaluation = 100'000;  // so that one long loop does not take seconds
void add_history(const TensorState* state, std::unordered_set<const values::Producer*>& found) {
  std::vector<const TensorState*> open = {state};
  while (!open.empty()) {
    const TensorState* at = open.back();
    open.pop_back();
    if (!at || !at->made || found.size() > most_of_evaluation || !found.insert(at->made).second) continue;
    open.insert(open.end(), at->made->states.begin(), at->made->states.end());
    open.insert(open.end(), at->made->listed.begin(), at->made->listed.end());
  }
}

bool uses_gradients_otherwise(const TrainingRoot& training_root) {
  return std::ranges::any_of(training_root.all, [](const TrainingEvent& each) {
    return each.event->row->operation == Operation::gradient_asked ||
        (each.event->row->operation == Operation::backward && !each.event->self_state());
  });
}

// What last set the mode of the module before the call; null if nothing did.
const OperationEvent* mode_at(const TrainingRoot& training_root, std::size_t call) {
  for (std::size_t i = call; i-- > 0;)
    if (sets_mode(*training_root.all[i].event) &&
        training_root.all[i].event->self.object() == training_root.all[call].event->self.object())
      return training_root.all[i].event;
  return nullptr;
}

void offer_no_grad(const Record& record, const OperationEvent& forward, Finding& finding) {
  if (!record.in_file(forward.place)) return;
  const auto path = enclosing(*record.chunk(forward.place).chunk->stmt, forward.place.span);
  const SourceLines source(record, forward.place.chunk);
  if (path.size() < 2 || path.back().stmt->kind != syntax::StmtKind::assign ||
      !source.own_line(*path.back().stmt))
    return;
  const syntax::Stmt& stmt = *path.back().stmt;
  const std::string indentation = source.indentation(stmt);
  const syntax::Span lines = source.lines(stmt, stmt);
  Fix fix;
  fix.title = "Evaluate under torch.no_grad()";
  fix.edits.push_back({{source.path(), lines},
      indentation + "with torch.no_grad():" + source.line_ending() +
          reindent(source.slice(lines), indentation,
              indentation + source.step(*path[path.size() - 2].stmt, stmt))});
  finding.fixes.push_back(std::move(fix));
}

constexpr std::int64_t fewest_bytes = std::int64_t{1} << 20;

void look(const Record& record, Report& report, const TrainingRoot& training_root, Once& once) {
  std::unordered_set<const values::Producer*> after;
  std::set<const LoopEvent*> training;
  for (const TrainingEvent& each : training_root.all)
    if (each.event->row->operation == Operation::backward)
      training.insert(each.loops.begin(), each.loops.end());
  for (std::size_t i = 0; i < training_root.all.size(); ++i) {
    const TrainingEvent& each = training_root.all[i];
    const OperationEvent& forward = *each.event;
    if (forward.row->operation != Operation::forward || !forward.self.is(Kind::instance) ||
        each.loops.empty() || each.in_handler)
      continue;
    // In the loop that trains, and in none of its own: of those loop/grad-in-eval speaks.
    if (!training.contains(each.loops.back()) || (forward.around && forward.around->gradients != Known::yes))
      continue;
    const OperationEvent* mode = mode_at(training_root, i);
    const TensorState* made = forward.result.is(Kind::tensor) ? forward.made : nullptr;
    if (!mode || !sets_eval(record, *mode) || !made || !made->made || made->requires_grad != Known::yes)
      continue;
    if (after.empty())
      for (const TrainingEvent& other : training_root.all)
        if (other.event->row->operation == Operation::backward) add_history(other.event->self_state(), after);
    if (after.contains(made->made) || !once(forward.place)) continue;
    const Account& account = Account::of(record);
    const footprint::Graph graph(record, *made, account.held(), account.options().device);
    footprint::Bytes kept;
    std::unordered_set<footprint::Storage, footprint::StorageHash> seen;
    for (const footprint::Node& node : graph.nodes())
      for (const footprint::Saved& saved : footprint::saved_by(graph, node, account.options().device).kept)
        if (!saved.held && seen.insert(saved.storage).second) kept.add(record.symbols, saved.bytes);
    const std::string name = forward.expr
        ? std::string(record.text({forward.place.chunk, forward.expr->function->span}))
        : "the model";
    const std::int64_t bytes = kept.open() ? 0 : account.number(kept);
    if (bytes && bytes < fewest_bytes) continue;
    Finding* finding = report.add(Severity::information, forward.place, forward.calls,
        (forward.expr ? code(name) : name) +
            " is evaluated here with gradients recorded, and no backward follows: " +
            (bytes ? footprint::bytes_text(bytes) + " of the forward" : "all that one would need") +
            " stay in memory while the result is kept, during the next training step, too. Evaluate under `torch.no_grad()`.");
    if (!finding) continue;
    report.relate(*finding, mode->place, "it evaluates from here on");
    offer_no_grad(record, forward, *finding);
  }
}

void check(const Record& record, Report& report) {
  if (!has_steps(record)) return;
  Once once;
  for (const TrainingRoot& training_root : Training::of(record).training_roots())
    if (!training_root.handed_over && !training_root.root->truncated &&
        !uses_gradients_otherwise(training_root))
      look(record, report, training_root, once);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "memory/eval-graph",
    .severity = Severity::information,
    .summary = "an evaluation inside a training loop keeps what a backward would need",
    .why =
        "`model.eval()` does not turn off autograd. A validation of the whole set in one call, once in an epoch, records as much as a training step of that size would, and keeps it as long as a name holds its "
        "outcome: in a loop that is until the same line of the next iteration, so it stands beside every training step between. Under `torch.no_grad()` it is let go of layer by layer.",
    .wrong = "for epoch in range(epochs):\n"
             "    model.train()\n"
             "    train_one_epoch(model)\n"
             "    model.eval()\n"
             "    outputs = model(x_val)\n",
    .right = "for epoch in range(epochs):\n"
             "    model.train()\n"
             "    train_one_epoch(model)\n"
             "    model.eval()\n"
             "    with torch.no_grad():\n"
             "        outputs = model(x_val)\n",
    .silent =
        "What keeps less than a MiB; calls in a loop of their own, which loop/grad-in-eval tells; a forward that some backward goes through, as a teacher's or a frozen norm's; programs that ask for gradients; models without parameters "
        "that require one; `no_grad` and `inference_mode` around it.",
    .fix = "Puts the statement under `with torch.no_grad():`.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::memory::eval_graph
