// numerics/epsilon: an epsilon that the precision it is used in does not know.
#include "rules/digits.hpp"
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::numerics::epsilon {

using values::code;

using values::Dtype;
using values::Kind;
using values::Operation;

namespace {

// What a parameter of the row is where the call does not give it.
std::optional<double> default_of(const values::Row& row, std::string_view name) {
  const auto at = std::ranges::find(row.parameters, values::Name(name));
  if (at == row.parameters.end()) return std::nullopt;
  const values::Constant& constant = row.defaults[static_cast<std::size_t>(at - row.parameters.begin())];
  return constant.kind == Kind::real ? std::optional(constant.real) : std::nullopt;
}

constexpr double smallest_half = 5.9604645e-8;  // 2^-24: half of it and less is 0

// The epsilon of x + eps, in the precision of x.
void added(const Record& record, Report& report, Once& once, const Producer& use, const TensorState* sum,
    const char* consequence) {
  sum = source_of(sum, false);
  if (!sum || semantics(sum) != OpSemantics::add || sum->dtype != Dtype::float16) return;
  const Producer& made = *sum->made;
  const auto eps = made.arguments.size() > 1 && !input(made, 1) ? number(record, made.arguments[1])
                                                                : std::nullopt;
  if (!eps || *eps <= 0 || *eps >= smallest_half / 2 || !input(made) ||
      input(made)->dtype != Dtype::float16 || !once(made.born))
    return;
  if (Finding* finding = report.add(Severity::warning, made.born, made.calls,
          in_digits(*eps) + " is 0 in float16, whose smallest number is 6e-08: it does not keep " +
              code(text_of(record, made)) + " from being 0, and " + consequence +
              " Compute this in `float32`, or use 1e-5."))
    report.relate(*finding, use.born, "used here");
}

// The type of the parameters, if they are all of one.
Dtype type_of_parameters(const Record& record, Value module, int depth, bool& any) {
  Dtype found = Dtype::unknown;
  if (!module.is(Kind::instance) || depth > values::deepest_search) return found;
  for (const auto& [name, slot] : module.as<values::Instance>()->attributes.entries()) {
    const Value value = slot->value;
    if (value.is(Kind::tensor) && value.as<values::Tensor>()->role == values::TensorRole::parameter) {
      any = true;
      return value.as<values::Tensor>()->now()->dtype;
    }
    Dtype inner = Dtype::unknown;
    if (value.is(Kind::instance))
      inner = type_of_parameters(record, value, depth + 1, any);
    else if (value.is(Kind::list) && !values::Heap::list_state(value)->items.empty())
      inner = type_of_parameters(record, values::Heap::list_state(value)->items.front(), depth + 1, any);
    if (any) return inner;
  }
  return found;
}

void check(const Record& record, Report& report) {
  const Provenance& provenance = Provenance::of(record);
  Once once;
  for (const OpSemantics by : {OpSemantics::inverse_sqrt, OpSemantics::sqrt})
    for (const Origin& each : provenance.of_semantics(by))
      added(record, report, once, *each.made, input(*each.made),
          "the root of it divides by 0 for a row of zeros.");
  for (const Origin& each : provenance.of_semantics(OpSemantics::div))
    if (const TensorState* below = input(*each.made, 1))
      added(record, report, once, *each.made, below, "dividing by it gives inf or nan.");
  for (const Origin& each : provenance.of_semantics(OpSemantics::normalized)) {
    if (each.state->dtype != Dtype::float16 && each.state->dtype != Dtype::bfloat16) continue;
    Value eps = argument(*each.made, "eps");
    if (!eps && each.made->self.is(Kind::instance))
      if (const values::Slot* slot = each.made->self.as<values::Instance>()->attributes.find(
              values::Name("eps")))
        eps = slot->value;
    const auto number_of = number(record, eps);
    if (!number_of || *number_of <= 0 || *number_of > 1e-10 || !once(each.made->born)) continue;
    if (Finding* finding = report.add(Severity::hint, each.made->born, each.made->calls,
            "`eps=" + in_digits(*number_of) + "` in a norm over " +
                std::string(values::name(each.state->dtype)) +
                ": PyTorch averages in float32, so it holds, but a row that is nearly constant is blown up by as much as a million, rounding errors and all. Use 1e-5, as is usual in half precision.");
        finding && each.made->self.is(Kind::instance))
      report.relate(*finding, each.made->self.object()->born, "the layer is made here");
  }
  visit_operations(record, with_operation(Operation::optimizer_made), [&](const OperationEvent& made) {
    if (made.arguments.empty()) return;
    // What an optimizer has an eps for is a division by what squared gradients leave, plus eps.
    const Value given_eps = argument(made, "eps");
    const std::optional<double> eps = given_eps ? number(record, given_eps) : default_of(*made.row, "eps");
    const std::string_view name = values::last_name(made.row->path);
    if (!eps || *eps <= 0 || *eps >= smallest_half / 2) return;
    const Value given = made.arguments[0];
    if (!given.is(Kind::instance)) return;
    const values::Slot* of = given.as<values::Instance>()->attributes.find(
        values::Name(values::OptimizerState::of));
    bool any = false;
    if (!of || type_of_parameters(record, of->value, 0, any) != Dtype::float16 || !once(made.place)) return;
    report.add(Severity::warning, made.place, made.calls,
        code("eps=" + in_digits(*eps)) + " of " + code(name) +
            " is 0 in float16, and so is every squared gradient below 6e-08: its steps are divided by 0 and the weights become nan. Keep the weights in `float32` and "
            "use `autocast`, or pass `eps=1e-4`.");
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "numerics/epsilon",
    .severity = Severity::warning,
    .summary = "an epsilon is too small for the precision that it is used in",
    .why =
        "An epsilon keeps a division or a root away from 0. The smallest number of float16 is 6e-08: `x.pow(2).mean(-1) + 1e-12` in float16 is the mean itself, and a row of zeros "
        "becomes nan. Adam, RMSprop and Adagrad add an eps of 1e-8 or 1e-10 to the root of an average squared gradient, in the type of the weights: with weights in pure float16 both are 0.",
    .wrong = "x = x.half()\n"
             "x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-12)\n",
    .right = "x32 = x.float()\n"
             "x = (x32 * torch.rsqrt(x32.pow(2).mean(-1, keepdim=True) + 1e-6)).type_as(x)\n",
    .silent =
        "float32 and bfloat16, which know numbers down to 1e-38. Types that are not known. PyTorch's own norms compute in float32: a tiny eps there is a hint.",
    .fix = "None: decide between computing in float32 and another epsilon.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::numerics::epsilon
