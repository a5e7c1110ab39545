// config/checkpointing: activation checkpointing that loses gradients, or refuses its arguments.
#include "libraries/table/class_roles.hpp"
#include "rules/call_at.hpp"
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/training/parts.hpp"
#include "rules/training/training.hpp"
#include "syntax/walk.hpp"

#include <algorithm>
#include <map>

namespace stepzero::rules::config::checkpointing {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

constexpr std::string_view own[] = {
    "use_reentrant", "context_fn", "determinism_check", "debug", "early_stop", "preserve_rng_state"};

// Is `checkpoint` called by its own name? A partial, or an attribute that holds one, may have bound keywords
// that are not written here.
bool is_called_by_name(const syntax::CallExpr& call) {
  const std::string_view name = syntax::last_name(*call.function);
  return says(name, Says::checkpointing) && !name.starts_with('_');
}

enum class Way : std::uint8_t { reentrant, by_default, other };  // by default it is reentrant

Way way_of(const syntax::CallExpr& call) {
  for (const syntax::Keyword& each : call.keywords) {
    if (each.name.text().empty()) return Way::other;
    if (each.name.text() == "use_reentrant")
      return each.value->kind == syntax::ExprKind::boolean &&
              static_cast<const syntax::BooleanExpr&>(*each.value).value
          ? Way::reentrant
          : Way::other;
  }
  return Way::by_default;
}

// A keyword that the reentrant way refuses; null if there is none. What `**` hands on may be nothing.
const syntax::Keyword* refused(const syntax::CallExpr& call) {
  for (const syntax::Keyword& each : call.keywords)
    if (!each.name.text().empty() &&
        (std::find(std::begin(own), std::end(own), each.name.text()) == std::end(own) ||
            each.name.text() == "context_fn"))
      return &each;
  return nullptr;
}

// Is it known of all inputs that they require no gradient?
bool gives_no_gradient(const OperationEvent& event) {
  bool any = false;
  for (std::size_t i = event.row->parameters.size(); i < event.arguments.size(); ++i) {
    const values::TensorState* state = event.argument_state(i);
    const Value value = event.arguments[i];
    const bool plain = value.is(Kind::none) || value.is(Kind::integer) || value.is(Kind::boolean) ||
        value.is(Kind::real) || value.is(Kind::string);
    if (!state && !plain) return false;
    if (state && state->requires_grad != values::Known::no) return false;
    any = any || state;
  }
  return any;
}

void offer(const OperationEvent& event, Report& report, Finding& finding) {
  const syntax::CallExpr& call = *event.expr;
  for (const syntax::Keyword& each : call.keywords)
    if (each.name.text() == "use_reentrant") {
      finding.fixes.push_back({"Pass use_reentrant=False", true,
          {{report.location({event.place.chunk, each.value->span}), "False"}}});
      return;
    }
  if (call.arguments.empty()) return;
  const std::uint32_t last = call.keywords.empty() ? call.arguments[call.arguments.size() - 1]->span.end
                                                   : call.keywords[call.keywords.size() - 1].span.end;
  finding.fixes.push_back({"Pass use_reentrant=False", true,
      {{report.location({event.place.chunk, {last, last}}), ", use_reentrant=False"}}});
}

// A layer in the function that draws at random in training; null if there is none.
const values::Object* drops(Value function) {
  if (!function.is(Kind::instance)) return nullptr;
  Parts parts;
  parts.add(function);
  for (const values::Object* object : parts.found) {
    const auto* layer = dynamic_cast<const Instance*>(object);
    if (!layer || !layer->native || libraries::role_of(layer->native) != libraries::ClassRole::drops)
      continue;
    const Value p = layer->attributes.value(syntax::Name("p"));
    const bool is_off = (p.is(Kind::real) && p.real() == 0) || p.is(Kind::integer);
    if (!is_off) return layer;
  }
  return nullptr;
}

bool keeps_no_state(const syntax::CallExpr& call) {
  return std::any_of(call.keywords.begin(), call.keywords.end(), [](const syntax::Keyword& each) {
    return each.name.text() == "preserve_rng_state" && each.value->kind == syntax::ExprKind::boolean &&
        !static_cast<const syntax::BooleanExpr&>(*each.value).value;
  });
}

// The recomputation draws other numbers than the forward did.
void check_drawn(const OperationEvent& event, Report& report, Once& once) {
  if (!keeps_no_state(*event.expr) || event.arguments.empty()) return;
  const values::Object* layer = drops(event.arguments.front());
  if (!layer || !once(event.place)) return;
  Finding* finding = report.add(Severity::warning, event.place, event.calls,
      "With `preserve_rng_state=False` the recomputation drops other activations than the forward did: the gradients belong to another pass than the loss. Leave the argument out, or take the dropout out of the function.");
  if (!finding) return;
  if (layer->born) report.relate(*finding, layer->born, "the dropout");
  for (const syntax::Keyword& each : event.expr->keywords)
    if (each.name.text() == "preserve_rng_state")
      finding->fixes.push_back({"Preserve the state of the random numbers", true,
          {{report.location({event.place.chunk, each.value->span}), "True"}}});
}

const syntax::Expr* asks_for_cache(const syntax::CallExpr& call) {
  for (const syntax::Keyword& each : call.keywords)
    if (each.name.text() == "use_cache" && each.value->kind == syntax::ExprKind::boolean &&
        static_cast<const syntax::BooleanExpr&>(*each.value).value)
      return each.value;
  return nullptr;
}

// `model(…, use_cache=True)` of a model of transformers in training whose layers compute their activations
// again: each of them leaves the cache out. In evaluation, and in `generate`, it is used.
void check_cache(const Record& record, Report& report) {
  struct State {
    Place recomputes;
    bool trains = false;
  };
  std::map<const values::Object*, State> models;
  Once once;
  visit_operations(record, [&](const OperationEvent& event) {
    if (!event.self.is(Kind::unknown)) return;
    State& model = models[event.self.object()];
    switch (event.row->operation) {
    case Operation::recomputed:
      model.recomputes = event.row->path.ends_with("enable") ? event.place : Place{};
      break;
    case Operation::train_mode:
      model.trains = event.arguments.empty() || !event.arguments[0].is(Kind::boolean) ||
          record.symbols.decide(event.arguments[0].condition()) != symbolic::Answer::no;
      break;
    case Operation::eval_mode: model.trains = false; break;
    case Operation::forward: {
      const syntax::CallExpr* call = model.trains && model.recomputes ? call_at(record, event.place)
                                                                      : nullptr;
      const syntax::Expr* asked = call ? asks_for_cache(*call) : nullptr;
      if (!asked || !once(event.place)) return;
      Finding* finding = report.add(Severity::information, event.place, event.calls,
          "`use_cache=True` has no effect here: in training the layers of a model that computes its activations again leave the cache out, and transformers warns of it. Pass `use_cache=False`.");
      if (!finding) return;
      report.relate(*finding, model.recomputes, "from here on the activations are computed again");
      if (record.in_file(event.place))
        finding->fixes.push_back(
            {"Pass use_cache=False", true, {{report.location({event.place.chunk, asked->span}), "False"}}});
      return;
    }
    default: break;
    }
  });
}

void check(const Record& record, Report& report) {
  check_cache(record, report);
  Once once;
  visit_operations(record, with_operation(Operation::recomputed), [&](const OperationEvent& event) {
    if (!event.expr || !is_called_by_name(*event.expr)) return;
    check_drawn(event, report, once);
    const Way way = way_of(*event.expr);
    if (way == Way::other) return;
    Finding* finding = nullptr;
    if (const syntax::Keyword* keyword = refused(*event.expr)) {
      if (!once(event.place)) return;
      finding = report.add(Severity::error, event.place, event.calls,
          "`checkpoint` hands keyword arguments on only with `use_reentrant=False`, and refuses `" +
              std::string(keyword->name.text()) + "`" +
              (way == Way::by_default ? " (without it the reentrant way is taken)" : "") +
              ": `ValueError`. Pass `use_reentrant=False`.");
    } else if (event.made && event.made->requires_grad == values::Known::yes && gives_no_gradient(event)) {
      if (!once(event.place)) return;
      finding = report.add(Severity::warning, event.place, event.calls,
          std::string("The reentrant `checkpoint`") +
              (way == Way::by_default ? ", which is taken without `use_reentrant`," : "") +
              " computes gradients only where an input requires one, and none of these does: \"None of the inputs have requires_grad=True. Gradients will be None\". The parameters inside are never trained. Pass `use_reentrant=False`.");
    }
    if (finding && record.in_file(event.place)) offer(event, report, *finding);
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "config/checkpointing",
    .severity = Severity::error,
    .summary = "activation checkpointing of the reentrant kind that loses gradients or refuses its arguments",
    .why =
        "`torch.utils.checkpoint.checkpoint` takes its reentrant way unless `use_reentrant=False` is passed. That way it sees only inputs that require a gradient: "
        "where the first block is given data, or the output of a frozen embedding, its result has no gradient, and the parameters inside are never trained. "
        "It also refuses keyword arguments for the function, and `context_fn` (asked of PyTorch 2.13). Both ways set the random numbers back before they compute again; with `preserve_rng_state=False` dropout draws "
        "another mask in the backward than in the forward. A model of transformers that computes its activations again leaves out the cache of keys and values "
        "in training, whatever `use_cache=True` asks for (asked of transformers 5.23).",
    .wrong = "x = batch[\"input\"]\nx = checkpoint(self.block, x, use_reentrant=True)\n",
    .right = "x = batch[\"input\"]\nx = checkpoint(self.block, x, use_reentrant=False)\n",
    .silent =
        "`use_reentrant=False`, or one that the text does not decide; inputs of which one requires a gradient, or that are not known.",
    .fix = "Passes `use_reentrant=False`.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::config::checkpointing
