// Makes the rows of operators and layers, and what the constructors of layers run.
#include "libraries/table/op_run.hpp"

#include "libraries/table/names.hpp"
#include "libraries/table/presumption.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <deque>

namespace stepzero::libraries {

using values::Kind;
using values::ProblemKind;

namespace {
// A layer of no channels computes nothing, and PyTorch refuses to slide a window by nothing: whoever makes
// one has sizes of at least 1, and so have the numbers that they are products of.
void take_positive(Op& op) {
  if (op.run.guarded()) return;
  constexpr std::string_view sizes[] = {"in_features", "out_features", "in_channels", "out_channels",
      "num_features", "num_channels", "embedding_dim", "num_embeddings", "input_size", "hidden_size",
      "embed_dim", "d_model"};
  constexpr std::string_view steps[] = {"kernel_size", "stride", "dilation"};
  constexpr std::int64_t multiples[] = {
      1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 128, 256, 512, 1024};
  const Int one = op.s.constant(1);
  std::vector<Int> taken;
  taken.reserve(std::size(sizes));
  for (const std::string_view name : sizes) taken.push_back(op.size(name));
  // These may be tuples: only what the program computes with is a number. What it compares with 1 is above 1,
  // or it is 1.
  for (const std::string_view name : steps) {
    const Value step = op.argument(name);
    if (step.is(Kind::integer) || (step.is(Kind::unknown) && step.as<values::Unknown>()->integer))
      taken.push_back(op.size(name));
    if (!step.is(Kind::unknown)) continue;
    const auto is = [&](syntax::CompareOp how) {
      return op.run.truth(op.run.compare(how, step, Value::of(one)));
    };
    (void)op.s.assume(op.s.logical_or(is(syntax::CompareOp::gt), is(syntax::CompareOp::eq)));
  }
  for (const Int size : taken) {
    if (!size || op.s.value(size)) continue;
    std::vector<Int> atoms;
    op.s.atoms(size, [&](Int atom) {
      if (std::ranges::find(atoms, atom) == atoms.end()) atoms.push_back(atom);
    });
    if (atoms.empty() || atoms.size() > 3) continue;
    Int product = atoms[0];
    for (std::size_t i = 1; i < atoms.size(); ++i) product = op.s.mul(product, atoms[i]);
    const bool is_product = std::ranges::any_of(
        multiples, [&](std::int64_t by) { return op.s.mul(op.s.constant(by), product) == size; });
    // Of two factors both might be negative: sizes are not.
    if (is_product)
      for (const Int atom : atoms) (void)op.s.assume(op.s.compared(Compare::ge, atom, one));
  }
}
// Weights have sizes, and `dim / 2` is none, whatever dim is.
bool gets_whole_numbers(Op& op) {
  if (!op.call.row.op->has_parameters) return true;
  constexpr std::string_view sizes[] = {"in_features", "out_features", "in_channels", "out_channels",
      "num_features", "num_channels", "embedding_dim", "num_embeddings", "input_size", "hidden_size",
      "embed_dim", "d_model", "kernel_size", "num_layers", "num_heads", "nhead"};
  for (const std::string_view name : sizes) {
    if (!op.given(name)) continue;
    if (const auto text = op.text(name)) {
      op.fail(ProblemKind::argument,
          interpreter::WrongKind{interpreter::WrongKind::Need::number, interpreter::WrongKind::Has::text,
              op.taker(), code(name), std::string(*text)});
      return false;
    }
    if (!is_fraction(op.argument(name))) continue;
    op.fail(ProblemKind::argument,
        interpreter::WrongKind{interpreter::WrongKind::Need::whole_number, interpreter::WrongKind::Has::real,
            op.taker(), code(name), op.name(name)});
    return false;
  }
  return true;
}

// What the constructor of a Layer runs.
Value make_layer(Call& call) {
  Op op(call);
  for (std::size_t i = 0; i < call.row.parameters.size(); ++i)
    // `bias` is asked for as a flag and becomes a parameter.
    if (const Value given = call.spread && !call.given[i] ? call.run.heap().unseen("") : call.arguments[i])
      op.keep(
          call.row.parameters[i].text() == "bias" ? values::ModuleState::bias : call.row.parameters[i].text(),
          given);
  if (call.spread) return {};
  const bool taken = fits(op) && gets_whole_numbers(op);
  if (taken) take_positive(op);
  if (taken && call.row.op->make) call.row.op->make(op);
  if (op.failed()) {
    op.keep(values::ModuleState::failed, call.run.heap().boolean(true));
    return {};
  }
  if (call.row.op->has_parameters)
    hold_parameters(op);
  else
    op.keep(values::ContainerState::complete, call.run.heap().boolean(true));
  return {};
}

// Rows hold views of them as long as the process.
std::deque<std::string> paths;
std::deque<values::OperatorInfo> operations;
}  // namespace

std::vector<Row> rows_of_layers(std::span<const Layer> layers) {
  std::vector<Row> rows;
  for (const Layer& layer : layers) {
    Row cls;
    cls.path = layer.path;
    cls.kind = RowKind::class_;
    cls.signature = layer.signature;
    cls.run = make_layer;
    cls.op = &operations.emplace_back(
        values::OperatorInfo{nullptr, Type::own, layer.has_parameters, layer.make});
    cls.base = layer.base;
    rows.push_back(std::move(cls));
    if (!layer.forward) continue;
    Row forward;
    forward.path = paths.emplace_back(std::string(layer.path) + ".forward");
    forward.kind = RowKind::method;
    forward.signature = layer.inputs;
    forward.run = run_operator;
    forward.op = &operations.emplace_back(values::OperatorInfo{layer.forward, layer.type,
        layer.has_parameters, nullptr, column_role_of(last_part(layer.path)), nullptr, false, false,
        outcome_effect_of(last_part(layer.path))});
    rows.push_back(std::move(forward));
  }
  return rows;
}

std::vector<Row> operator_rows(std::span<const Operator> operators) {
  constexpr std::string_view roots[] = {
      "torch.", "einops.", "grouped_gemm.", "flash_attn.", "xformers."};  // of whole paths
  std::vector<Row> rows;
  const auto add = [&](std::string path, RowKind kind, const Operator& op, values::Variant variant,
                       bool self_first) {
    Row made;
    made.path = paths.emplace_back(std::move(path));
    made.kind = kind;
    made.signature = op.signature;
    made.run = run_operator;
    made.op = &operations.back();
    made.variant = variant;
    made.self_first = self_first;
    rows.push_back(std::move(made));
  };
  for (const Operator& op : operators) {
    operations.push_back(
        {op.shape, op.type, false, nullptr, column_role_of(op.name), content_rule_of(op.name),
            op.name.ends_with('_') && !op.name.ends_with("__"), false, outcome_effect_of(op.name)});
    name_operator(&operations.back(), last_part(op.name));
    const std::string name(op.name);
    std::string_view rest = op.homes;
    bool in_torch = false;
    while (!rest.empty()) {
      const auto space = rest.find(' ');
      const std::string_view home = rest.substr(0, space);
      rest = space == std::string_view::npos ? std::string_view{} : rest.substr(space + 1);
      using enum values::Variant;
      if (home == "torch") {
        in_torch = true;
        add("torch." + name, RowKind::function, op, plain, false);
      } else if (home == "method")
        add("torch.Tensor." + name, RowKind::method, op, plain, true);
      else if (home == "property")
        add("torch.Tensor." + name, RowKind::property, op, plain, true);
      else if (home == "in_place") {
        add("torch.Tensor." + name + "_", RowKind::method, op, in_place, true);
        if (in_torch) add("torch." + name + "_", RowKind::function, op, in_place, false);
      } else if (home == "in_shape") {
        add("torch.Tensor." + name + "_", RowKind::method, op, in_shape, true);
        if (in_torch) add("torch." + name + "_", RowKind::function, op, in_shape, false);
      } else if (home == "reshapes")
        continue;
      else if (home == "spread")
        operations.back().takes_spread = true;
      else if (home == "F")
        add("torch.nn.functional." + name, RowKind::function, op, plain, false);
      else if (home == "F_")
        add("torch.nn.functional." + name + "_", RowKind::function, op, in_place, false);
      else if (std::ranges::any_of(roots, [&](std::string_view root) { return home.starts_with(root); })) {
        const bool method = home.starts_with("torch.Tensor."),
                   writes = home.ends_with('_') && !op.name.ends_with('_');
        const auto variant = !writes ? plain
            : op.homes.find("in_shape") != std::string_view::npos || op.homes.ends_with(" reshapes")
            ? in_shape
            : in_place;
        add(std::string(home), method ? RowKind::method : RowKind::function, op, variant, method);
      } else
        add("torch." + std::string(home) + "." + name, RowKind::function, op, plain, false);
    }
  }
  return rows;
}

}  // namespace stepzero::libraries
