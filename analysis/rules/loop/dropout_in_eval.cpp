// loop/dropout-in-eval: dropout in a model's forward that evaluation mode does not turn off.
#include "libraries/table/table.hpp"
#include "libraries/torch/meaning/op_form.hpp"
#include "rules/call_at.hpp"
#include "rules/classes.hpp"
#include "rules/name_hints.hpp"
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::loop::dropout_in_eval {

using values::code;
using values::Kind;

namespace {

constexpr std::string_view mode = "training";  // the parameter of the functions, and the attribute of modules

// Where the signature has the parameter, if dropping is what it does unless the call says otherwise.
std::optional<std::size_t> drops_unasked(const values::Row& row) {
  const auto at = std::ranges::find(row.parameters, values::Name(mode));
  if (at == row.parameters.end()) return std::nullopt;
  const auto index = static_cast<std::size_t>(at - row.parameters.begin());
  const values::Constant& usual = row.defaults[index];
  return usual.kind == Kind::boolean && usual.integer ? std::optional(index) : std::nullopt;
}

// Does the call leave it to that, and spread nothing that may say so?
bool leaves_out(const syntax::CallExpr& call, std::size_t parameter) {
  return call.arguments.size() <= parameter &&
      std::ranges::none_of(
          call.arguments, [](const syntax::Expr* each) { return each->kind == syntax::ExprKind::starred; }) &&
      std::ranges::none_of(call.keywords,
          [](const syntax::Keyword& each) { return each.name.empty() || each.name.text() == mode; });
}

bool drops_nothing(const Record& record, const Producer& made) {
  const Value p = made.self.is(Kind::instance)
      ? made.self.as<values::Instance>()->attributes.value(values::Name("p"))
      : argument(made, "p");
  return p && number(record, p) == 0;
}

// The innermost function of the program around the place, of those that ran.
const values::Function* function_of(const std::vector<const values::Function*>& ran, values::Place place) {
  const values::Function* found = nullptr;
  for (const values::Function* each : ran)
    if (each->stmt && each->chunk == place.chunk && each->stmt->span.holds(place.span) &&
        (!found || found->stmt->span.begin < each->stmt->span.begin))
      found = each;
  return found;
}
// Has its object a mode, as modules do?
bool is_method_of_module(const values::Function& function) {
  return function.owner && !function.is_static && !function.is_class_method &&
      !function.stmt->parameters->list.empty() && derives(*function.owner, libraries::table().types().module);
}
// Does it look at the mode itself, or drop on purpose?
bool means_it(const values::Function& function) {
  return names(*function.stmt, Says::in_training) || says(function.qualified, Says::renewing_statistics);
}

// Does an argument of its caller decide whether it comes to drop? Who evaluates may leave that out.
bool is_asked_for(const values::Function& function, values::Place place) {
  const auto& parameters = function.stmt->parameters->list;
  bool asked = false;
  for (const Enclosing& each : enclosing(*function.stmt, place.span))
    if (each.stmt->kind == syntax::StmtKind::if_)
      for_each_expression(*syntax::as<syntax::IfStmt>(*each.stmt).test, [&](const syntax::Expr& part) {
        asked = asked ||
            (part.kind == syntax::ExprKind::name &&
                std::any_of(
                    parameters.begin() + 1, parameters.end(), [&](const syntax::Parameter& parameter) {
                      return parameter.name == syntax::as<syntax::NameExpr>(part).id;
                    }));
      });
  return asked;
}

// `training=self.training` as one more argument.
Fix pass_mode(
    const Report& report, values::Place place, const syntax::CallExpr& call, const std::string& training) {
  syntax::Span last = call.arguments_span;
  for (const syntax::Expr* each : call.arguments) last = each->span;
  for (const syntax::Keyword& each : call.keywords)
    if (each.value->span.end > last.end || call.arguments.empty()) last = each.value->span;
  return {"Drop activations in training only", false,
      {{report.location({place.chunk, {last.end, last.end}}), ", " + training}}};
}

void check(const Record& record, Report& report) {
  Once once;
  const std::vector<const values::Function*> ran = functions_that_ran(record);
  for (const Origin& each : Provenance::of(record).all()) {
    const Producer& made = *each.made;
    if (libraries::form_of(*made.row) != libraries::OpForm::dropout || !made.born ||
        drops_nothing(record, made))
      continue;
    const values::Function* function = function_of(ran, made.born);
    if (!function || !is_method_of_module(*function) || means_it(*function) ||
        is_asked_for(*function, made.born))
      continue;
    if (made.self.is(Kind::instance)) {
      const values::Place layer = made.self.object()->born;
      const bool is_new = layer && layer.chunk == made.born.chunk && function->stmt->span.holds(layer.span) &&
          function->name.text() != "__init__";
      if (is_new && once(layer))
        report.add(Severity::warning, layer, made.calls,
            "This dropout is a new module in each call of " + code(function->qualified) +
                ", in training mode: `eval()` of the model does not reach it, so it drops activations in evaluation, too. Make it once, in `__init__`.");
      continue;
    }
    const auto parameter = drops_unasked(*made.row);
    const syntax::CallExpr* call = parameter ? call_at(record, made.born) : nullptr;
    if (!call || !leaves_out(*call, *parameter) || !once(made.born)) continue;
    const std::string training = std::string(mode) + "=" +
        std::string(function->stmt->parameters->list[0].name.text()) + "." + std::string(mode);
    const std::string called(record.text({made.born.chunk, call->function->span}));
    Finding* finding = report.add(Severity::warning, made.born, made.calls,
        code(called) +
            " drops activations in evaluation mode, too: it is not told the mode, which `eval()` of the model sets. Pass " +
            code(training) + ".");
    if (finding && record.in_file(made.born) && (!call->arguments.empty() || !call->keywords.empty()))
      finding->fixes.push_back(pass_mode(report, made.born, *call, training));
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/dropout-in-eval",
    .severity = Severity::warning,
    .summary = "dropout that evaluation mode does not turn off",
    .why =
        "`model.eval()` reaches the modules that a model has as attributes. `F.dropout(x, p)` is a function: its `training` is True unless the call says otherwise, so it drops activations whenever it is called. "
        "`nn.Dropout(p)(x)` in a forward is a new module each time, and new modules are in training mode. Predictions then differ from call to call, and metrics are those of a model that has lost a part of its activations.",
    .wrong = "class Net(nn.Module):\n"
             "    def forward(self, x):\n"
             "        return self.head(F.dropout(x, 0.5))\n",
    .right = "class Net(nn.Module):\n"
             "    def forward(self, x):\n"
             "        return self.head(F.dropout(x, 0.5, training=self.training))\n",
    .silent =
        "Calls that say `training`, also as True; methods that look at `self.training`; dropout that an argument of the method asks for; functions outside of modules, which have no mode; a probability of 0; `F.alpha_dropout`, which drops only if it is told to; "
        "names that say that dropping is meant, as `mc_dropout`, or the `Prenet` of Tacotron.",
    .fix = "Passes `training=self.training`. Decide first whether the drops are meant.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::loop::dropout_in_eval
