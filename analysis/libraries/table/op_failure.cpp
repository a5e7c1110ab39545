// How an operator refuses its call: what is told, which operands are named, and how it could be mended.
#include "interpreter/record.hpp"
#include "libraries/torch/meaning/op_form.hpp"
#include "libraries/torch/meaning/op_semantics.hpp"
#include "libraries/torch/nn/layer.hpp"

#include "interpreter/calls/unseen.hpp"
#include "values/devices.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::libraries {

using symbolic::Answer;
using values::Kind;
using values::ProblemKind;

void Op::warn(ProblemKind kind, interpreter::Refusal refusal, std::initializer_list<Dim> because) {
  tell(kind, std::move(refusal), because);
}

void Op::fail_when(
    symbolic::Cond when, ProblemKind kind, interpreter::Refusal refusal, std::initializer_list<Dim> because) {
  const Answer answer = s.decide(when);
  if (answer == Answer::yes) {
    (void)fail(kind, std::move(refusal), because);
    return;
  }
  if (answer == Answer::no || failed_) return;
  // What is found after it fails whether or not this does.
  const symbolic::Cond before = unless_;
  unless_ = before ? s.logical_and(before, when) : when;
  (void)fail(kind, std::move(refusal), because);
  unless_ = before;
  failed_ = false;
}

interpreter::ProblemEvent& Op::refuse(ProblemKind kind) {
  failed_ = true;
  return *(problem_ = run.problem(kind, call, unless_, std::exchange(raises_, {})));
}

void Op::tell(ProblemKind kind, interpreter::Refusal refusal, std::initializer_list<Dim> because) {
  auto* problem = problem_ = run.problem(kind, call, unless_, std::exchange(raises_, {}));
  explain(*problem, std::move(refusal));
  for (const Value& value : tensors()) {
    if (problem->operands.size() == 4) break;
    problem->operands.push_back(value);
    problem->states.push_back(tensor(value));
  }
  for (const Dim& d : because)
    if (d.origin && d.origin->place) problem->sizes.push_back(d);
}

Value Op::fail(ProblemKind kind, interpreter::Refusal refusal, std::initializer_list<Dim> because) {
  if (!failed_) tell(kind, std::move(refusal), because);
  failed_ = true;
  return unknown();
}

Value Op::refuse_shape(ProblemKind kind, interpreter::ShapeNeed need, std::string_view parameter) {
  return fail(kind, interpreter::WrongShape{taker(), need, name(parameter), shape(parameter)});
}

Value Op::refuse_dtype(interpreter::DtypeNeed need, std::string_view parameter) {
  const TensorState* state = tensor(parameter);
  return fail(ProblemKind::dtype,
      interpreter::WrongDtype{taker(), need, name(parameter), state ? state->dtype : values::Dtype::unknown});
}

Value Op::refuse_dtypes(std::string_view one, std::string_view other) {
  return fail(ProblemKind::dtype,
      interpreter::MixedDtypes{taker(), name(one), name(other), tensor(one)->dtype, tensor(other)->dtype});
}

Value Op::refuse_value(std::string_view parameter, std::optional<double> least, std::optional<double> most,
    const Dim& given, bool above) {
  return fail(
      ProblemKind::argument, interpreter::OutOfRange{taker(), parameter, least, most, above, given}, {given});
}

Value Op::refuse_option(
    std::string_view parameter, std::initializer_list<std::string_view> options, std::string_view given) {
  return fail(ProblemKind::argument,
      interpreter::NoSuchOption{taker(), parameter, std::vector(options), std::string(given)});
}

Value Op::refuse_count(
    ProblemKind kind, std::size_t given, std::string_view unit, std::size_t expected, std::string_view per) {
  return fail(kind, interpreter::WrongCount{taker(), given, unit, expected, per});
}

Value Op::refuse_number(std::string_view unit, const Dim& asked, const Dim& among, ProblemKind kind) {
  return fail(kind, interpreter::ImpossibleCount{taker(), unit, asked, among}, {among});
}

// Two devices that the operands lie on, if they are not the same, and when that is so. Null: whatever the
// program chooses.
Op::Apart Op::devices_apart(const values::Device& one, const values::Device& other) {
  Apart apart;
  if (one.text == other.text) return apart;
  // Where there is no GPU nothing lies on one.
  const symbolic::Cond has_gpu = run.named_condition(values::DeviceCondition::has_cuda, Sharing::uniform);
  // Of a model and a loader of which nobody says where they lie nothing is said.
  const symbolic::Cond model = run.named_condition(values::DeviceCondition::model_on_gpu, Sharing::uniform),
                       samples = run.named_condition(
                           values::DeviceCondition::samples_on_cpu, Sharing::uniform);
  const auto mine = values::possible_devices(s, one), theirs = values::possible_devices(s, other);
  bool always = true;
  for (const auto& a : mine)
    for (const auto& b : theirs) {
      const symbolic::Cond both = !a.when ? b.when : !b.when ? a.when : s.logical_and(a.when, b.when);
      if ((a.when == model && b.when == samples) || (a.when == samples && b.when == model)) {
        always = false;
        continue;
      }
      const bool on_gpu = a.text.starts_with("cuda") || b.text.starts_with("cuda");
      const symbolic::Cond there = !on_gpu ? both : both ? s.logical_and(both, has_gpu) : has_gpu;
      if (there && s.decide(there) == symbolic::Answer::no) continue;
      if (values::may_be_one(a.text, b.text)) {
        always = false;
        continue;
      }
      if (apart.one.empty()) {
        apart.one = a.text;
        apart.other = b.text;
      }
      if (both) apart.when = apart.when ? s.logical_or(apart.when, both) : both;
    }
  if (always) apart.when = nullptr;
  return apart;
}

namespace {
// Of one of two tensors: that of the one or that of the other. Null: not known.
const values::Device* device_of_choice(Op& op, Value value, int depth = 0) {
  value = op.run.resolve(value);
  if (const TensorState* state = op.tensor(value)) return state->device;
  if (!value.is(Kind::choice) || depth > values::most_choices) return nullptr;
  const auto& choice = *value.as<values::Choice>();
  return values::choose_device(op.run.heap(), choice.condition, device_of_choice(op, choice.yes, depth + 1),
      device_of_choice(op, choice.no, depth + 1));
}

// Is it, by what it was computed from, known to have dimensions?
bool has_dims(Op& op, const TensorState& state, int depth = 0) {
  if (!state.shape.dims.empty() || !state.first.empty()) return true;
  if (state.shape.ndim_known || !state.made || depth > values::deepest_search) return false;
  const OpSemantics by = semantics_of(*state.made->row);
  if (by != OpSemantics::add && by != OpSemantics::sub && by != OpSemantics::mul && by != OpSemantics::div)
    return false;
  return std::ranges::any_of(state.made->arguments, [&](Value value) {
    const TensorState* operand = op.tensor(value);
    return operand && has_dims(op, *operand, depth + 1);
  });
}
}  // namespace

// Where that was made which lies on the CPU, if it was not in the call itself: there, or on the way from
// there, it could have been moved.
static void relate_making(Op& op, interpreter::ProblemEvent* problem, Value value, const Op::Apart& apart) {
  if (!problem || (apart.one != "cpu" && apart.other != "cpu")) return;
  for (int depth = 0; depth < values::deepest_search; ++depth) {
    const TensorState* state = op.tensor(value);
    if (!state || !state->made) break;
    const auto& from = state->made->arguments;
    const auto source = std::ranges::find_if(from, [&](Value each) {
      const TensorState* one = each.is(Kind::tensor) ? op.tensor(each) : nullptr;
      return one && one->device && one->device->text == state->device->text;
    });
    if (source == from.end()) break;
    value = *source;
  }
  if (!value.is(Kind::tensor) || value.as<values::Tensor>()->role != values::TensorRole::plain) return;
  const values::Place made = value.object()->born;
  const values::Place& at = op.call.place;
  if (!made || (made.chunk == at.chunk && at.span.begin <= made.span.begin && made.span.end <= at.span.end))
    return;
  problem->evidence.emplace_back(made, "the tensor on the CPU is made here");
}

// A product takes no number, wherever it lies, and neither does a layer with a matrix. Others take one from
// their own device alone.
static bool takes_dimensions(Op& op, OpSemantics own) {
  if (form_of(op.call.row) == OpForm::one_device) return true;
  if (own == OpSemantics::product || own == OpSemantics::linear) return true;
  const TensorState* weight = op.tensor(op.kept("weight"));
  return weight && weight->shape.dims.size() > 1;
}

// Is it certainly no number: `labels.float()`, `labels.detach()`? It is named by the call that gave it.
static bool is_tensor_by_method(Runtime& run, const values::Unknown& made) {
  if (!made.attributes.value(Name(values::UnknownState::made_of)).is(Kind::unknown)) return false;
  const std::string_view call = made.name, function = call.substr(0, call.rfind('('));
  const Row* row = run.method_row(
      run.library().types().tensor, Name(function.substr(function.rfind('.') + 1)));
  return row && row->op && semantics_of(*row) == OpSemantics::same;
}

// Lengths and sizes stay on the CPU, and out= says itself where it lies.
static constexpr std::string_view anywhere[] = {"out", "input_lengths", "target_lengths", "lengths"};

bool Op::on_one_device() {
  struct Placed {
    std::string_view parameter;
    interpreter::PlacedOperand operand;
    const values::Device* device = nullptr;
    bool may_be_number = false;  // nothing says that it has dimensions
    Value value;
  };
  std::optional<Placed> first;
  const OpSemantics own = semantics_of(call.row);
  const bool joins = own == OpSemantics::joined;
  const bool takes_dims = takes_dimensions(*this, own);
  const auto look = [&](std::string_view parameter, Value value, interpreter::PlacedOperand operand,
                        bool part = false) {
    const TensorState* state = tensor(value);
    const values::Device* device = state ? state->device : nullptr;
    if (part && value.is(Kind::choice)) device = device_of_choice(*this, value);
    if (!device && value.is(Kind::unknown)) {
      const auto& unknown = *value.as<values::Unknown>();
      device = interpreter::lies_on(unknown);
      // The operand of a sign may as well be a number, but who compares predictions asks for a part of a
      // batch.
      if (!device &&
          (call.expr || semantics_of(call.row) == OpSemantics::equals || is_tensor_by_method(run, unknown)))
        device = interpreter::left_on(unknown);
    }
    // One without dimensions goes with any device, but not into one tensor with others.
    if (!device ||
        (!(joins && part) && !(takes_dims && !parameter.empty()) && state && !has_dims(*this, *state) &&
            (state->shape.ndim_known || values::is_cpu(device))))
      return true;
    const OpSemantics by = state && state->made ? semantics_of(*state->made->row) : OpSemantics::none;
    const bool combined = by == OpSemantics::add || by == OpSemantics::sub || by == OpSemantics::mul ||
        by == OpSemantics::div || by == OpSemantics::power;
    const bool may_be_number = !(joins && part) && !(takes_dims && !parameter.empty()) && combined &&
        !state->shape.ndim_known && !has_dims(*this, *state);
    const Placed here{parameter, std::move(operand), device, may_be_number, value};
    if (!first) {
      first = here;
      return true;
    }
    const Apart apart = devices_apart(*first->device, *here.device);
    if (apart.one.empty()) return true;
    if (first->may_be_number && apart.one == "cpu") {
      first = here;
      return true;
    }
    if (may_be_number && apart.other == "cpu") return true;
    const interpreter::Refusal refusal = interpreter::DevicesApart{
        first->operand, std::string(apart.one), here.operand, std::string(apart.other)};
    const Placed& left = apart.one == "cpu" ? *first : here;
    if (apart.when) {
      fail_when(apart.when, ProblemKind::device, refusal);
      relate_making(*this, problem_, left.value, apart);
      return true;
    }
    fail(ProblemKind::device, refusal);
    relate_making(*this, problem_, left.value, apart);
    const bool moves_first = values::is_cpu(first->device);
    const Placed &moved = moves_first ? *first : here, &other = moves_first ? here : *first;
    // An expression that is more than a name would be computed twice.
    const syntax::Expr* stays = other.parameter.empty() ? nullptr : expression(other.parameter);
    if (stays && !moved.parameter.empty() &&
        (stays->kind == syntax::ExprKind::name || stays->kind == syntax::ExprKind::attribute))
      suggest_append(moved.parameter,
          ".to(" + std::string(run.record().text({call.place.chunk, stays->span})) + ".device)", true);
    else if (!moved.parameter.empty() && !values::chosen(other.device))
      suggest_append(moved.parameter, ".to(\"" + std::string(other.device->text) + "\")", false);
    return false;
  };
  for (const std::string_view held : {"weight", "weight_ih", "weight_ih_l0", "in_proj_weight", "pos_weight"})
    if (const Value weight = kept(held); weight &&
        !look({}, weight,
            {held == "pos_weight" ? interpreter::PlacedOperand::pos_weight
                                  : interpreter::PlacedOperand::weight,
                taker()}))
      return false;
  const auto& parameters = call.row.parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string_view parameter = parameters[i].text();
    if (std::find(std::begin(anywhere), std::end(anywhere), parameter) != std::end(anywhere)) continue;
    // What is true or false by default, `training`, is no tensor.
    if (i < call.row.defaults.size() && call.row.defaults[i].kind == Kind::boolean) continue;
    const Value value = run.resolve(call.at(i));
    if (value.is(Kind::list) || value.is(Kind::tuple)) {
      const auto& items = value.is(Kind::list) ? values::Heap::list_state(value)->items
                                               : value.as<values::Tuple>()->items;
      for (std::size_t k = 0; k < items.size() && k < 64; ++k)
        if (!look({}, run.resolve(items[k]), {interpreter::PlacedOperand::part, name(parameter), k}, true))
          return false;
    } else if (!look(parameter, value, {interpreter::PlacedOperand::operand, name(parameter)})) {
      return false;
    }
  }
  if (semantics_of(call.row) == OpSemantics::product)
    for (std::size_t i = 0; i < call.rest.size(); ++i)
      if (!look({}, run.resolve(call.rest[i]), {interpreter::PlacedOperand::numbered, {}, i + 1}))
        return false;
  return true;
}

void Op::suspect(const interpreter::ProblemEvent& prepared) {
  auto* problem = run.problem(ProblemKind::suspicious_broadcast, call);
  problem->place = prepared.place;
  problem->calls = prepared.calls;
  problem->row = prepared.row;
  problem->expr = prepared.expr;
  problem->node = prepared.node;

  problem->refusal = prepared.refusal;
  problem->sizes = prepared.sizes;
  problem->evidence = prepared.evidence;
  problem->suggested_edits = prepared.suggested_edits;
}

void Op::suggest_constructor(std::string_view parameter, const Dim& size, bool sure) {
  const auto known = value(size);
  if (!problem_ || !known || *known <= 0) return;
  const std::string number = std::to_string(*known);
  problem_->suggested_edits.push_back({interpreter::SuggestedEdit::How::constructor, parameter, nullptr,
      number, "Set " + std::string(parameter) + " to " + number, sure});
}
namespace {
// Nobody writes `x.half().float()`: what is converted already is converted to the other type instead. Null:
// it is not.
const syntax::Expr* converted_already(const syntax::Expr& expr, std::string_view suffix) {
  constexpr std::string_view conversions[] = {"half", "bfloat16", "float", "double", "int", "long"};
  const auto is_conversion = [&](std::string_view name) {
    return std::ranges::find(conversions, name) != std::end(conversions);
  };
  if (!suffix.starts_with('.') || !suffix.ends_with("()") ||
      !is_conversion(suffix.substr(1, suffix.size() - 3)) || expr.kind != syntax::ExprKind::call)
    return nullptr;
  const auto& call = syntax::as<syntax::CallExpr>(expr);
  if (!call.arguments.empty() || !call.keywords.empty() || call.function->kind != syntax::ExprKind::attribute)
    return nullptr;
  const auto& method = syntax::as<syntax::AttributeExpr>(*call.function);
  return is_conversion(method.attribute.text()) ? method.object : nullptr;
}
}  // namespace

void Op::suggest_append(std::string_view parameter, std::string_view suffix, bool sure, std::string title) {
  const syntax::Expr* expr = problem_ ? expression(parameter) : nullptr;
  if (!expr) return;
  if (const syntax::Expr* object = converted_already(*expr, suffix)) {
    const std::string text(run.record().text({call.place.chunk, object->span}));
    problem_->suggested_edits.push_back({interpreter::SuggestedEdit::How::replace, parameter, expr,
        text + std::string(suffix), "Write " + text + std::string(suffix), sure});
    return;
  }
  if (title.empty()) title = "Write " + plain_name(parameter) + std::string(suffix);
  problem_->suggested_edits.push_back({interpreter::SuggestedEdit::How::append, parameter, expr,
      std::string(suffix), std::move(title), sure});
}
void Op::suggest_method(std::string_view method) {
  if (!problem_ || !call.expr || call.expr->function->kind != syntax::ExprKind::attribute) return;
  const auto& function = syntax::as<syntax::AttributeExpr>(*call.expr->function);
  const std::string_view object = run.record().text({call.place.chunk, function.object->span});
  // What stands between the object and the name, parentheses and dots included, stays as it is written.
  const std::string_view whole = run.record().text({call.place.chunk, function.span});
  const std::string_view name = function.attribute.text();
  if (object.empty() || !whole.ends_with(name)) return;
  problem_->suggested_edits.push_back({interpreter::SuggestedEdit::How::replace, "", &function,
      std::string(whole.substr(0, whole.size() - name.size())) + std::string(method),
      "Call " + std::string(method), true});
}

std::string Op::words(const Dim& d) const { return values::size_text(s, d); }
const syntax::Expr* Op::expression(std::string_view parameter) const {
  auto at = index(parameter);
  if (at < 0) return nullptr;
  if (call.node && call.node->kind == syntax::ExprKind::binary && at < 2) {
    const auto& binary = syntax::as<syntax::BinaryExpr>(*call.node);
    return at == 0 ? binary.left : binary.right;
  }
  if (call.node && call.node->kind == syntax::ExprKind::unary && at == 0)
    return syntax::as<syntax::UnaryExpr>(*call.node).operand;
  if (call.node && call.node->kind == syntax::ExprKind::subscript && at < 2) {
    const auto& subscript = syntax::as<syntax::SubscriptExpr>(*call.node);
    return at == 0 ? subscript.object : subscript.index;
  }
  if (!call.expr) return nullptr;
  for (const syntax::Keyword& keyword : call.expr->keywords)
    if (keyword.name.text() == parameter) return keyword.value;
  if (call.row.self_first) {
    if (at == 0)
      return call.expr->function->kind == syntax::ExprKind::attribute
          ? syntax::as<syntax::AttributeExpr>(*call.expr->function).object
          : nullptr;
    --at;
  }
  return static_cast<std::size_t>(at) < call.expr->arguments.size()
      ? call.expr->arguments[static_cast<std::size_t>(at)]
      : nullptr;
}
std::string Op::name(std::string_view parameter) const {
  const std::string found = plain_name(parameter);
  return found.starts_with("the ") ? found : code(found);
}
std::string Op::plain_name(std::string_view parameter) const {
  if (const syntax::Expr* expr = expression(parameter)) {
    const std::string_view text = run.record().text({call.place.chunk, expr->span});
    if (values::is_quotable(text)) return std::string(text);
  }
  return "the " + std::string(parameter);
}
std::string_view last_part(std::string_view path) {
  if (path.ends_with(".forward")) path.remove_suffix(8);
  return path.substr(path.rfind('.') + 1);
}
std::string Op::taker() const {
  if (!call.self.is(Kind::instance)) return code(title());
  const auto quotable = [&](values::Place place) {
    const std::string_view text = run.record().text(place);
    return values::is_quotable(text) ? text : std::string_view{};
  };
  if (call.expr)
    if (const auto text = quotable({call.place.chunk, call.expr->function->span}); !text.empty())
      return code(text);
  if (const auto text = quotable(born()); !text.empty()) return code(text);
  return code(title());
}
std::string_view Op::title() const { return last_part(call.row.path); }

}  // namespace stepzero::libraries
