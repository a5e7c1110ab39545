// loop/untied-weights: two layers are given one weight, and then one of them gets another. Knows the weights
// that the layers have where the run ends, and where the text ties them.
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <map>

namespace stepzero::rules::loop::untied_weights {

using namespace interpreter;
using namespace syntax;
using values::code;
using values::Kind;
using values::Tensor;

namespace {

// `head.weight = embedding.weight`
struct Tie {
  std::uint32_t chunk = 0;
  const AssignStmt* stmt = nullptr;
  const AttributeExpr *into = nullptr, *from = nullptr;
};
void add_ties(std::uint32_t chunk, const Stmt& root, std::vector<Tie>& found) {
  for_each_statement(root, [&](const Stmt& stmt) {
    if (stmt.kind != StmtKind::assign) return;
    const auto& assign = as<AssignStmt>(stmt);
    if (assign.targets.size() != 1 || assign.targets[0]->kind != ExprKind::attribute ||
        assign.value->kind != ExprKind::attribute)
      return;
    const auto &into = as<AttributeExpr>(*assign.targets[0]), &from = as<AttributeExpr>(*assign.value);
    if (into.attribute == from.attribute) found.push_back({chunk, &assign, &into, &from});
  });
}

// The parameter of that name of the layer as the run left it; null if it is none.
const Tensor* parameter_of(const values::Instance& layer, Name name) {
  const values::Slot* slot = layer.attributes.find(name);
  const Tensor* found = slot && slot->value.is(Kind::tensor) ? slot->value.as<Tensor>() : nullptr;
  return found && found->role == values::TensorRole::parameter ? found : nullptr;
}

// Was the parameter made for a statement that gives a layer one of that name, other than the tie?
bool is_assigned_later(const Record& record, const Tensor& parameter, const Tie& tie) {
  const Place born = parameter.born;
  if (!born || !record.chunk(born).chunk) return false;
  const auto way = enclosing(*record.chunk(born).chunk->stmt, born.span);
  if (way.empty() || way.back().stmt->kind != StmtKind::assign || way.back().stmt == tie.stmt) return false;
  return std::ranges::any_of(as<AssignStmt>(*way.back().stmt).targets, [&](const Expr* target) {
    return target->kind == ExprKind::attribute && as<AttributeExpr>(*target).attribute == tie.into->attribute;
  });
}

// Do they stand in two branches of one decision?
bool are_alternatives(const Record& record, const Tie& tie, Place other) {
  if (other.chunk != tie.chunk) return false;
  const Span own = tie.stmt->span;
  for (const Enclosing& each : enclosing(*record.chunk(other).chunk->stmt, other.span)) {
    if (each.stmt->kind != StmtKind::if_ || !each.stmt->span.holds(own)) continue;
    const auto holds = [](const syntax::Block& block, Span span) {
      return std::ranges::any_of(block, [&](const Stmt* stmt) { return stmt->span.holds(span); });
    };
    const auto& decision = as<IfStmt>(*each.stmt);
    if (holds(decision.body, own) != holds(decision.body, other.span)) return true;
  }
  return false;
}

void check(const Record& record, Report& report) {
  std::vector<Tie> ties;
  for (std::uint32_t chunk = 1; chunk < record.chunks.size(); ++chunk)
    if (const Stmt* stmt = record.chunks[chunk].statement()) add_ties(chunk, *stmt, ties);
  if (ties.empty()) return;
  // What the layers of the ties were, the last time that the run came there.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Value> layers;
  for (const Tie& tie : ties)
    for (const AttributeExpr* side : {tie.into, tie.from})
      layers[{tie.chunk, side->object->span.begin, side->object->span.end}] = {};
  for (const Fact& fact : record.facts) {
    if (fact.role != Fact::Role::expression || !fact.value.is(Kind::instance)) continue;
    const auto found = layers.find({fact.place.chunk, fact.place.span.begin, fact.place.span.end});
    if (found != layers.end()) found->second = fact.value;
  }
  Once once;
  for (const Tie& tie : ties) {
    const auto layer = [&](const AttributeExpr& side) {
      const Value value = layers[{tie.chunk, side.object->span.begin, side.object->span.end}];
      return value.is(Kind::instance) ? value.as<values::Instance>() : nullptr;
    };
    const values::Instance *into = layer(*tie.into), *from = layer(*tie.from);
    if (!into || !from || into == from) continue;
    const Tensor *one = parameter_of(*into, tie.into->attribute),
                 *other = parameter_of(*from, tie.from->attribute);
    if (!one || !other || one == other) continue;
    const Tensor* made = is_assigned_later(record, *one, tie) ? one
        : is_assigned_later(record, *other, tie)              ? other
                                                              : nullptr;
    if (!made || are_alternatives(record, tie, made->born) || !once(made->born)) continue;
    const auto text = [&](const AttributeExpr& side) {
      return code(std::string(record.text({tie.chunk, side.span})));
    };
    Finding* finding = report.add(Severity::warning, made->born, nullptr,
        "This gives " + text(made == one ? *tie.into : *tie.from) +
            " a parameter of its own, after it was tied to " + text(made == one ? *tie.from : *tie.into) +
            ": the two are trained apart. Tie them after the weights are made, or write the new numbers into the tensor with `torch.nn.init`.");
    if (finding) report.relate(*finding, {tie.chunk, tie.stmt->span}, "the weights are tied here");
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/untied-weights",
    .severity = Severity::warning,
    .summary = "weights that were tied are set apart again by a new parameter",
    .why =
        "`head.weight = embedding.weight` lets two layers share one parameter. A later `head.weight = nn.Parameter(…)`, as in a function that initializes, replaces it in one of the layers: the model has more parameters than it says, and the two drift apart. Nothing fails.",
    .wrong = "self.head.weight = self.embedding.weight\n"
             "…\n"
             "self.head.weight = nn.Parameter(torch.randn(vocabulary, width) * 0.02)\n",
    .right = "self.head.weight = self.embedding.weight\n"
             "…\n"
             "nn.init.normal_(self.head.weight, std=0.02)\n",
    .silent =
        "Weights that are written in place; layers that are tied after they are initialized; two branches of one decision; layers that are not seen.",
    .fix = "None: decide which of the two comes first.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::untied_weights
