// amp/backward-in-autocast: a backward inside the autocast region.
#include "rules/amp/autocast.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"

namespace stepzero::rules::amp::backward_in_autocast {

using namespace interpreter;
using values::Operation;

namespace {

// Moves the end of the `with` body, from the backward on, out of it.
void offer_dedent(const Record& record, const OperationEvent& event, Finding& finding) {
  if (!event.expr || !record.in_file(event.place)) return;
  const SourceLines source(record, event.place.chunk);
  const auto path = enclosing(*record.chunk(event.place).chunk->stmt, event.expr->span);
  if (path.size() < 2) return;
  const Enclosing &own = path.back(), &with = path[path.size() - 2];
  if (with.stmt->kind != syntax::StmtKind::with || own.index == 0 || !source.own_line(*own.stmt)) return;
  const syntax::Stmt& last = *own.block[own.block.size() - 1];
  const syntax::Span lines = source.lines(*own.stmt, last);
  Fix fix;
  fix.title = "Run the backward outside of autocast";
  fix.preferred = &last == own.stmt;  // what else would leave the region is for the user to decide
  fix.edits.push_back({{source.path(), lines},
      reindent(source.slice(lines), source.indentation(*own.stmt), source.indentation(*with.stmt))});
  finding.fixes.push_back(std::move(fix));
}

void check(const Record& record, Report& report) {
  Once once;
  visit_operations(record, [&](const OperationEvent& backward) {
    if (backward.row->operation != Operation::backward) return;
    const auto region = autocast_around(record, backward.around);
    if (!region || region->enabled == Answer::no || !once(backward.place)) return;
    Finding* finding = report.add(Severity::warning, backward.place, backward.calls,
        "This backward pass runs inside `autocast`" + region->when +
            ", which PyTorch advises against: it uses the types of the forward pass by itself. End the region before it.");
    if (!finding) return;
    report.relate(*finding, region->around->place, "the autocast region");
    offer_dedent(record, backward, *finding);
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "amp/backward-in-autocast",
    .severity = Severity::warning,
    .summary = "backward() inside the autocast region",
    .why =
        "\"Backward passes under autocast are not recommended\", says PyTorch: each backward operation runs in the type that autocast "
        "chose for its forward, whatever region it stands in (measured: the gradients are equal). Inside, what hooks, custom functions and recomputed checkpoints do is cast a "
        "second time, and loss scaling then works on other values than were meant.",
    .wrong = "with torch.autocast(\"cuda\"):\n"
             "    loss = loss_fn(model(x), y)\n"
             "    loss.backward()\n",
    .right = "with torch.autocast(\"cuda\"):\n"
             "    loss = loss_fn(model(x), y)\n"
             "loss.backward()\n",
    .silent =
        "A region made with `enabled=False`; a context that is `nullcontext()`, or not known; a backward after the region.",
    .fix = "Moves the backward out of the `with`, where it is the last statement in it.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::amp::backward_in_autocast
