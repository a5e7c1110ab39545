// perf/sampler: a loader that is given a sampler and told to shuffle.
#include "rules/list.hpp"
#include "rules/loop/training.hpp"

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

Value argument(const OperationEvent& event, std::string_view name) {
  for (std::size_t i = 0; i < event.row->parameters.size() && i < event.arguments.size(); ++i)
    if (event.row->parameters[i].text() == name) return event.arguments[i];
  return {};
}

void check(const Record& record, Report& report) {
  Once once;
  visit_roots(record, [&](const Event& event) {
    if (event.kind != EventKind::operation) return;
    const auto& made = static_cast<const OperationEvent&>(event);
    if (made.row->operation != Operation::loader_made || made.row->kind != values::RowKind::class_ || made.expected) return;
    const Value sampler = argument(made, "sampler"), shuffle = argument(made, "shuffle");
    // Only what is a sampler for sure: something else may be None.
    if (!sampler.is(Kind::instance) && !sampler.is(Kind::list)) return;
    if (!shuffle.is(Kind::boolean) || record.symbols.decide(shuffle.condition()) != Answer::yes || !once(made.place)) return;
    Finding* finding = report.add(Severity::error, made.place, made.calls,
                                  "A loader with a sampler cannot shuffle, too: PyTorch raises \"sampler option is mutually exclusive with shuffle\". The sampler decides the order; leave shuffle out.");
    if (!finding || !made.expr || !record.in_file(made.place)) return;
    for (const syntax::Keyword& keyword : made.expr->keywords) {
      if (keyword.name.text() != "shuffle") continue;
      Fix fix;
      fix.title = "Leave the order to the sampler: shuffle=False";
      fix.preferred = true;
      fix.edits.push_back({report.location({made.place.chunk, keyword.value->span}), "False"});
      finding->fixes.push_back(std::move(fix));
    }
  });
}

} // namespace

constexpr Rule sampler = complete({
    .id = "perf/sampler",
    .severity = Severity::error,
    .summary = "a DataLoader with a sampler and shuffle=True",
    .why = "`shuffle=True` asks the loader to make a random sampler of its own, so it cannot take another: the constructor raises ValueError, "
           "\"sampler option is mutually exclusive with shuffle\". A DistributedSampler shuffles by itself.",
    .wrong = "loader = DataLoader(dataset, batch_size=32, shuffle=True, sampler=DistributedSampler(dataset))\n",
    .right = "loader = DataLoader(dataset, batch_size=32, sampler=DistributedSampler(dataset))\n",
    .silent = "`shuffle=(sampler is None)`; `shuffle=False`; a sampler that may be None; a batch sampler alone.",
    .fix = "Sets `shuffle=False`.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

} // namespace stepzero::rules
