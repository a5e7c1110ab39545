// loop/epoch-mean: means of batches are added up and divided by the number of samples. Knows the two by the
// runs: what the loss averages over, and of what the length is taken. The sum and the division between them
// are read from the text: both are numbers of Python, of which a run keeps no provenance.
#include "libraries/table/class_roles.hpp"
#include "rules/name_hints.hpp"
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace stepzero::rules::loop::epoch_mean {

using values::code;

using namespace interpreter;
using namespace syntax;
using values::Kind;

namespace {

// Values of expressions, by their place. Put in order when it is first asked: most files add up no losses.
class Seen {
public:
  explicit Seen(const Record& record) : record_(record) {}
  std::vector<const Fact*> at(std::uint32_t chunk, const Expr& expr) const {
    if (!facts_) put_in_order();
    const auto found = facts_->find({chunk, expr.span.begin, expr.span.end});
    return found == facts_->end() ? std::vector<const Fact*>{} : found->second;
  }

private:
  void put_in_order() const {
    auto& facts = facts_.emplace();
    for (const Fact& fact : record_.facts)
      if (fact.role == Fact::Role::expression)
        facts[{fact.place.chunk, fact.place.span.begin, fact.place.span.end}].push_back(&fact);
  }

  const Record& record_;
  mutable std::optional<std::map<std::array<std::uint32_t, 3>, std::vector<const Fact*>>> facts_;
};

// `loss.item()`, `float(loss)`: the tensor; null if it is something else.
const Expr* tensor_read(const Expr& value) {
  if (value.kind != ExprKind::call) return nullptr;
  const auto& call = as<CallExpr>(value);
  if (call.function->kind == ExprKind::attribute && call.arguments.empty() &&
      says(as<AttributeExpr>(*call.function).attribute.text(), Says::reading_number))
    return as<AttributeExpr>(*call.function).object;
  const bool converts = call.function->kind == ExprKind::name &&
      as<NameExpr>(*call.function).id.text() == "float" && call.arguments.size() == 1;
  return converts ? call.arguments[0] : nullptr;
}

// Is it the mean of a loss over a batch, in each run?
bool is_mean(const std::vector<const Fact*>& facts) {
  return !facts.empty() && std::ranges::all_of(facts, [](const Fact* fact) {
    return fact->tensor && fact->tensor->mean && fact->tensor->shape.ndim_known &&
        fact->tensor->shape.dims.empty();
  });
}

// Is it how many samples of a batch fulfill something, in each run: `(output.argmax(1) == y).sum()`?
bool is_number_of(const std::vector<const Fact*>& facts) {
  return !facts.empty() && std::ranges::all_of(facts, [](const Fact* fact) {
    const values::Producer* made = fact->tensor ? fact->tensor->made : nullptr;
    if (!made || semantics(*made) != OpSemantics::sum || !fact->tensor->shape.ndim_known ||
        !fact->tensor->shape.dims.empty())
      return false;
    const TensorState* of = source_of(input(*made));
    return of && of->made && semantics(*of->made) == OpSemantics::equals;
  });
}

// `len(x)`: x; null if it is something else.
const Expr* measured(const Expr& expr) {
  if (expr.kind != ExprKind::call) return nullptr;
  const auto& call = as<CallExpr>(expr);
  return call.function->kind == ExprKind::name &&
          says(as<NameExpr>(*call.function).id.text(), Says::measuring) && call.arguments.size() == 1
      ? call.arguments[0]
      : nullptr;
}

// `len(loader)`, in each run: of batches.
bool counts_batches(const Seen& seen, std::uint32_t chunk, const Expr& expr) {
  const Expr* of = measured(expr);
  const auto facts = of ? seen.at(chunk, *of) : std::vector<const Fact*>{};
  return !facts.empty() && std::ranges::all_of(facts, [](const Fact* fact) {
    const auto* loader = fact->value.is(Kind::instance) ? fact->value.as<Instance>() : nullptr;
    return loader && loader->native && loader->native->row &&
        loader->native->row->operation == values::Operation::loader_made;
  });
}

// `len(data)` of a data set, in each run: of samples, not of batches.
bool counts_samples(const Seen& seen, std::uint32_t chunk, const Expr& expr) {
  const Expr* measured_one = measured(expr);
  if (!measured_one) return false;
  const Expr& of = *measured_one;
  const auto facts = seen.at(chunk, of);
  const bool all = !facts.empty() && std::ranges::all_of(facts, [](const Fact* fact) {
    const auto* data = fact->value.is(Kind::instance) ? fact->value.as<Instance>() : nullptr;
    return data && libraries::role_of(data->native) == libraries::ClassRole::samples;
  });
  return all || is_attribute(of, Says::of_loader);
}

void look_at(const Record& record, const Seen& seen, std::uint32_t chunk, const Stmt& within, Report& report,
    Once& once) {
  const auto text = [&](const Expr& expr) { return record.text({chunk, expr.span}); };
  struct Sum {
    const Stmt* where = nullptr;  // null: more than one thing is added up, or none of these
    bool of_samples = false;      // numbers of samples, and not means of batches
  };
  std::map<std::string_view, Sum> added;
  for_each_statement(within, [&](const Stmt& stmt) {
    if (stmt.kind != StmtKind::aug_assign || as<AugAssignStmt>(stmt).op != BinaryOp::add) return;
    const auto& sum = as<AugAssignStmt>(stmt);
    const Expr* tensor = tensor_read(*sum.value);
    const bool is_count = tensor && is_number_of(seen.at(chunk, *tensor));
    const auto [entry, is_new] = added.emplace(text(*sum.target), Sum{&stmt, is_count});
    // Another sum into the same name is another thing.
    if (!tensor || (!is_count && !is_mean(seen.at(chunk, *tensor))) ||
        (!is_new && entry->second.where != &stmt))
      entry->second.where = nullptr;
  });
  const auto tell = [&](const Expr& total, const Expr& by, Span where) {
    const auto found = added.find(text(total));
    if (found == added.end() || !found->second.where) return;
    const bool of_samples = found->second.of_samples;
    if (!(of_samples ? counts_batches(seen, chunk, by) : counts_samples(seen, chunk, by)) ||
        !once({chunk, where}))
      return;
    Finding* finding = report.add(Severity::information, {chunk, where}, nullptr,
        code(std::string(found->first)) +
            (of_samples
                    ? " counts samples, and is divided by the number of batches: what comes out is as many times too large as a batch has samples. Divide by the number of samples, `len(loader.dataset)`."
                    : " adds up the means of batches, and is divided by the number of samples: what comes out is smaller by the size of a batch. Divide by the number of batches, or add `loss.item() * len(batch)`."));
    if (finding) report.relate(*finding, {chunk, found->second.where->span}, "added up here");
  };
  for_each_expression(within, [&](const Expr& expr) {
    if (expr.kind == ExprKind::binary && as<BinaryExpr>(expr).op == BinaryOp::div)
      tell(*as<BinaryExpr>(expr).left, *as<BinaryExpr>(expr).right, expr.span);
  });
  for_each_statement(within, [&](const Stmt& stmt) {
    if (stmt.kind == StmtKind::aug_assign && as<AugAssignStmt>(stmt).op == BinaryOp::div)
      tell(*as<AugAssignStmt>(stmt).target, *as<AugAssignStmt>(stmt).value, stmt.span);
  });
}

void check(const Record& record, Report& report) {
  const Seen seen(record);
  Once once;
  for (std::uint32_t i = 1; i < record.chunks.size(); ++i) {
    const Stmt* root = record.chunks[i].path == record.path ? record.chunks[i].statement() : nullptr;
    if (!root) continue;
    for_each_statement(*root, [&](const Stmt& stmt) {
      if (stmt.kind == StmtKind::function) look_at(record, seen, i, stmt, report, once);
    });
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/epoch-mean",
    .severity = Severity::information,
    .summary = "means of batches are divided by the number of samples, or samples by that of batches",
    .why =
        "A loss averages over its batch. The sum of these means over an epoch, divided by the number of samples, is the mean divided by the size of a batch: it changes with `batch_size`, and thresholds of early stopping that were chosen for one size do not hold for another. Right answers are a number of samples: divided by the number of batches they give an accuracy above 1.",
    .wrong = "total += loss.item()\n"
             "mean = total / len(loader.dataset)\n",
    .right = "total += loss.item() * len(x)\n"
             "mean = total / len(loader.dataset)\n",
    .silent =
        "Losses with `reduction=\"sum\"`; sums that are divided by what they are counted in; losses that are not seen.",
    .fix = "None: either of the two may be meant.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::epoch_mean
