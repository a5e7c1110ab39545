#include "footprint/gradients.hpp"

#include "libraries/table/names.hpp"
#include "libraries/torch/meaning/meanings.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <memory>
#include <typeindex>

namespace stepzero::footprint {

using values::Kind;

namespace {

constexpr std::size_t most_operations = 20'000;  // in front of what is derived
constexpr std::string_view home = "gradient.";

// Operations that backwards are made of, and what each keeps for a backward of its own: from derivatives.yaml
// of PyTorch 2.13, in the words of saving_table.hpp. `numbers`: what the forward keeps besides tensors that
// it was given.
struct OfBackward {
  std::string_view name, signature, keeps;
};
constexpr OfBackward of_backward[] = {
    {"threshold", "grad, given", "given<grad"},
    {"leaky", "grad, self", "self<grad"},
    {"bounded", "grad, self", "self<grad"},
    {"elu", "grad, self", "grad self"},
    {"by_result", "grad, given", "grad<given given"},
    {"by_input", "grad, self", "grad<self self"},
    {"sgn", "self", "self result"},
    {"convolution", "grad, self, weight", "grad self weight"},
    {"transposed_convolution", "grad, self, weight", "grad self weight"},
    {"norm", "grad, self, weight", "grad self weight numbers"},
    {"by_numbers", "grad", "numbers"},
    {"classes", "grad, self, target", "target"},
    {"logs", "grad", "grad logarithms"},
    {"loss", "grad, self, target", "grad self target"},
    {"indices", "grad, self", "self"},
    {"chosen", "grad, condition", "condition"},
    {"clamped", "grad", "bools"},
    {"alike", "grad", ""},
};

const values::Row& row_of(std::string_view name) {
  static std::deque<std::string> paths;
  static const auto rows = [] {
    std::map<std::string_view, values::Row> made;
    const auto add = [&](std::string_view name, std::string_view from, std::string_view signature) {
      values::Row& row = made[name];
      row.path = paths.emplace_back(std::string(from) + std::string(name));
      for (std::string_view rest = signature; !rest.empty();) {
        const std::size_t end = std::min(rest.find(", "), rest.size());
        row.parameters.emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 2, rest.size()));
      }
    };
    for (const OfBackward& each : of_backward) add(each.name, home, each.signature);
    // Those that programs write, too, by their own names.
    for (const char* each : {"mul", "div", "mm"}) add(each, "torch.", "input, other");
    for (const char* each :
        {"add", "sum", "neg", "sin", "cos", "sigmoid", "pow", "reshape", "expand", "permute"})
      add(each, "torch.", "input");
    return made;
  }();
  return rows.at(name);
}

bool is_one_of(std::string_view words, std::string_view name) {
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    if (words.substr(at, end - at) == name) return true;
    at = end + 1;
  }
  return false;
}

bool is_alike(const Shape& a, const Shape& b) {
  return a.ndim_known && b.ndim_known && a.dims.size() == b.dims.size() &&
      std::ranges::equal(a.dims, b.dims, {}, &values::Dim::size, &values::Dim::size);
}

}  // namespace

const TensorState* only_tensor(const Record& record, Value given) {
  given = decided(record, given);
  if (given.is(Kind::list) || given.is(Kind::tuple)) {
    const auto& items = given.is(Kind::list) ? values::Heap::list_state(given)->items
                                             : given.as<values::Tuple>()->items;
    return items.size() == 1 ? only_tensor(record, items[0]) : nullptr;
  }
  return given.is(Kind::tensor) ? given.as<values::Tensor>()->now() : nullptr;
}

std::optional<std::string_view> keeping_of_gradient(const Producer& made) {
  if (!made.row->path.starts_with(home)) return std::nullopt;
  return std::ranges::find(of_backward, made.row->path.substr(home.size()), &OfBackward::name)->keeps;
}
bool is_gradient_of_convolution(const Producer& made, bool transposed) {
  return made.row == &row_of(transposed ? "transposed_convolution" : "convolution");
}

// Goes through the operations in front of what is derived, the last first.
class GradientBuilder {
public:
  GradientBuilder(Gradients& into, const Graph& graph, const TensorState& asked)
      : into_(into), graph_(graph), record_(graph.record()), s_(record_.symbols), asked_(*asked.made) {}

  Gradients::Call run(const TensorState& wanted) {
    const TensorState* outputs = only_tensor(record_, argument(asked_, "outputs"));
    if (!outputs) return std::move(call_);
    note_wanted(argument(asked_, "inputs"));
    wanted_.insert(identity(&wanted));
    collect(*outputs);
    const Value given = decided(record_, argument(asked_, "grad_outputs"));
    const TensorState* seed = only_tensor(record_, given);
    if (!seed && given && !given.is(Kind::none)) return std::move(call_);
    if (!seed) {
      TensorState ones;
      ones.shape = outputs->shape;
      ones.dtype = graph_.dtype(*outputs);
      ones.device = outputs->device;
      ones.requires_grad = values::Known::no;
      seed = &into_.states_.emplace_back(std::move(ones));
    }
    call_.of[identity(outputs)] = seed;
    for (std::size_t i = operations_.size(); i-- > 0;)
      if (!go_through(operations_[i])) break;
    return std::move(call_);
  }

private:
  struct Operand {
    const TensorState* state;
    std::string_view role;  // the name of its parameter; "listed"
  };
  struct Operation {
    const TensorState* result;
    std::vector<Operand> operands;
  };

  void note_wanted(Value inputs) {
    inputs = decided(record_, inputs);
    if (inputs.is(Kind::tensor)) wanted_.insert(identity(inputs.as<values::Tensor>()->now()));
    if (!inputs.is(Kind::list) && !inputs.is(Kind::tuple)) return;
    for (const Value& item :
        inputs.is(Kind::list) ? values::Heap::list_state(inputs)->items : inputs.as<values::Tuple>()->items)
      if (const TensorState* state = only_tensor(record_, item)) wanted_.insert(identity(state));
  }

  std::vector<Operand> operands_of(const Producer& made) const {
    std::vector<Operand> found;
    for (std::size_t i = 0; i < made.states.size(); ++i)
      if (made.states[i])
        found.push_back({made.states[i],
            i < made.row->parameters.size() ? made.row->parameters[i].text() : std::string_view("listed")});
    for (const TensorState* each : made.listed)
      if (each) found.push_back({each, "listed"});
    if (const Instance* layer = layer_of(made))
      for (const std::string_view name : {"weight", "bias"})
        if (const Value own = attribute(record_, *layer, name); own.is(Kind::tensor))
          found.push_back({own.as<values::Tensor>()->now(), name});
    return found;
  }

  // In the order in which they ran.
  void collect(const TensorState& from) {
    struct Open {
      Operation operation;
      std::size_t next = 0;
    };
    std::vector<Open> stack;
    std::unordered_set<const void*> begun;
    const auto push = [&](const TensorState* state) {
      if (!state->made || wanted_.contains(identity(state)) || !Graph::requires_grad(*state) ||
          graph_.is_held(*state) || begun.size() > most_operations || !begun.insert(identity(state)).second)
        return;
      stack.push_back({{state, operands_of(*state->made)}});
    };
    push(&from);
    while (!stack.empty()) {
      Open& open = stack.back();
      if (open.next < open.operation.operands.size()) {
        push(open.operation.operands[open.next++].state);
        continue;
      }
      operations_.push_back(std::move(open.operation));
      stack.pop_back();
    }
    std::unordered_set<const void*> reached(wanted_);
    for (const Operation& each : operations_)
      if (std::ranges::any_of(each.operands,
              [&](const Operand& operand) { return reached.contains(identity(operand.state)); }))
        reached.insert(identity(each.result));
    reached_ = std::move(reached);
  }

  bool go_through(const Operation& operation) {
    const auto found = call_.of.find(identity(operation.result));
    if (found == call_.of.end() || !reached_.contains(identity(operation.result))) return true;
    const TensorState& grad = *found->second;
    for (const Operand& operand : operation.operands) {
      if (!reached_.contains(identity(operand.state))) continue;
      const TensorState* through = derive(operation, operand, grad);
      if (!through) {
        call_.lost = operation.result->made;
        call_.of.clear();
        return false;
      }
      const TensorState*& sum = call_.of[identity(operand.state)];
      sum = sum ? make("add", *operand.state, {sum, through}) : through;
    }
    return true;
  }

  // A tensor of the size of `like`, computed from these.
  const TensorState* make(std::string_view name, const TensorState& like,
      std::vector<const TensorState*> from, const TensorState* forward = nullptr) {
    const TensorState* made = make(name, like.shape, graph_.dtype(like), like.device, std::move(from));
    if (forward) into_.forwards_.emplace(made->made, forward);
    return made;
  }
  const TensorState* make(std::string_view name, const Shape& shape, Dtype dtype,
      const values::Device* device, std::vector<const TensorState*> from) {
    const auto& inputs = into_.inputs_.emplace_back(std::move(from));
    Producer& made = into_.made_.emplace_back();
    made.row = &row_of(name);
    made.born = asked_.born;
    made.calls = asked_.calls;
    made.states = inputs;
    TensorState state;
    state.shape = shape;
    state.dtype = dtype;
    state.device = device;
    state.made = &made;
    state.requires_grad = std::ranges::any_of(inputs,
                              [](const TensorState* each) { return each && Graph::requires_grad(*each); })
        ? values::Known::yes
        : values::Known::no;
    return &into_.states_.emplace_back(std::move(state));
  }

  // What was spread over more dimensions is summed up again.
  const TensorState* fit(const TensorState* grad, const TensorState& operand) {
    return is_alike(grad->shape, operand.shape) ? grad : make("sum", operand, {grad});
  }

  std::optional<double> number(const Producer& made, std::string_view name) const {
    const Value given = setting(record_, made, name);
    if (given.is(Kind::real)) return given.real();
    if (given.is(Kind::integer))
      if (const auto known = s_.value(given.integer())) return static_cast<double>(*known);
    return std::nullopt;
  }

  // [.., n] as rows, the other way around.
  const TensorState* turned(const TensorState& matrix) {
    if (!matrix.shape.ndim_known || matrix.shape.dims.size() < 2) return nullptr;
    Shape rows = matrix.shape;
    rows.dims.pop_back();
    const Shape shape{true, {matrix.shape.dims.back(), {elements(s_, rows), nullptr, nullptr}}};
    return make("permute", shape, graph_.dtype(matrix), matrix.device, {&matrix});
  }

  const TensorState* of_product(const Operation& operation, const Operand& operand, const TensorState& grad) {
    const Producer& made = *operation.result->made;
    const std::string_view name = libraries::operator_name(*made.row);
    const TensorState *left = nullptr, *right = nullptr;
    for (const Operand& each : operation.operands)
      (each.role == "input"         ? left
              : each.role == "bias" ? left
                                    : right) = each.role == "bias" ? left : each.state;
    if (operand.role == "bias") return fit(&grad, *operand.state);
    if (!left || !right || !left->shape.ndim_known || !right->shape.ndim_known) return nullptr;
    const std::size_t a = left->shape.dims.size(), b = right->shape.dims.size();
    const bool is_linear = is_one_of("linear Linear", name);
    // Batches of matrices on both sides are as many.
    if (a < 2 || b < 2 || (b > 2 && (is_linear || a != b))) return nullptr;
    if (operand.role == "input") return make("mm", *operand.state, {&grad, right});
    if (is_linear) return make("mm", *operand.state, {turned(grad), left});
    if (b == 2) return make("mm", *operand.state, {turned(*left), &grad});
    for (std::size_t i = 0; i + 2 < a; ++i)
      if (left->shape.dims[i].size != right->shape.dims[i].size) return nullptr;
    Shape shape = left->shape;
    std::swap(shape.dims[a - 1], shape.dims[a - 2]);
    return make(
        "mm", *operand.state, {make("permute", shape, graph_.dtype(*left), left->device, {left}), &grad});
  }

  const TensorState* of_power(const TensorState& base, double exponent, const TensorState& grad) {
    if (exponent == 1) return &grad;
    return make("mul", base, {&grad, make("mul", base, {make("pow", base, {&base})})});
  }

  const TensorState* of_view(const Operation& operation, const Operand& operand, const TensorState& grad) {
    const std::string_view name = libraries::operator_name(*operation.result->made->row);
    if (is_alike(operand.state->shape, operation.result->shape)) return &grad;
    if (is_one_of("expand expand_as broadcast_to", name)) return make("sum", *operand.state, {&grad});
    if (is_one_of(
            "view view_as reshape reshape_as flatten Flatten unflatten Unflatten ravel unsqueeze squeeze",
            name))
      return make("reshape", *operand.state, {&grad});
    if (is_one_of("transpose t T mT permute movedim swapaxes swapdims", name))
      return make("permute", *operand.state, {&grad});
    // Zeros around what was taken out.
    return make("alike", *operand.state, {&grad});
  }

  const TensorState* of_arithmetic(
      const Operation& operation, const Operand& operand, const TensorState& grad, std::string_view name) {
    const Producer& made = *operation.result->made;
    const TensorState *input = footprint::operand(made, "input"), *other = footprint::operand(made, "other");
    const bool is_input = operand.state == input;
    const auto factor = number(made, "alpha");
    if (factor && *factor != 1 && (name != "add" || made.states[0] == made.states[1])) return nullptr;
    if (name == "add")
      return factor && *factor != 1 && !is_input ? fit(make("mul", grad, {&grad}), *operand.state)
                                                 : fit(&grad, *operand.state);
    if (name == "sub" || name == "rsub")
      return is_input == (name == "sub") ? fit(&grad, *operand.state)
                                         : fit(make("neg", grad, {&grad}), *operand.state);
    const TensorState* by = is_input ? other : input;
    if (input == other) return nullptr;
    if (name == "mul") return fit(make("mul", grad, {&grad, by}), *operand.state);
    return is_input ? fit(make("div", grad, {&grad, by}), *operand.state) : nullptr;
  }

  const TensorState* of_function(
      const Operation& operation, const Operand& operand, const TensorState& grad, std::string_view name) {
    const Producer& made = *operation.result->made;
    const TensorState &input = *operand.state, &result = *operation.result;
    const bool writes = is_in_place(record_, made);
    if (is_one_of("relu ReLU", name)) return make("threshold", input, {&grad, &result});
    if (is_one_of("leaky_relu LeakyReLU", name))
      return make("leaky", input, {&grad, writes ? &result : &input});
    if (is_one_of("elu ELU celu CELU selu SELU", name))
      return make("elu", input, {&grad, writes ? &result : &input});
    if (writes) return nullptr;
    if (is_one_of("sigmoid Sigmoid tanh Tanh softmax Softmax log_softmax LogSoftmax", name))
      return make("by_result", input, {&grad, &result});
    if (is_one_of("silu SiLU", name)) {
      const TensorState* sigmoid = make("sigmoid", input, {&input});
      const TensorState* inner = make("mul", input, {&input, make("alike", input, {sigmoid})});
      return make("mul", input, {make("mul", input, {&grad, sigmoid}), make("alike", input, {inner})});
    }
    if (is_one_of("gelu GELU softplus Softplus hardswish Hardswish", name))
      return make("by_input", input, {&grad, &input});
    if (is_one_of("hardtanh Hardtanh relu6 ReLU6", name)) return make("bounded", input, {&grad, &input});
    if (name == "neg") return make("neg", input, {&grad});
    if (name == "exp") return make("mul", input, {&grad, &result});
    if (name == "log") return make("div", input, {&grad, &input});
    if (name == "sqrt") return make("div", input, {&grad, make("mul", input, {&result})});
    if (name == "sin") return make("mul", input, {&grad, make("cos", input, {&input})});
    if (name == "cos") return make("mul", input, {&grad, make("neg", input, {make("sin", input, {&input})})});
    if (name == "rsqrt")
      return make("mul", input, {make("mul", input, {&grad}), make("pow", input, {&result})});
    if (name == "reciprocal")
      return make("mul", input, {make("neg", input, {&grad}), make("mul", input, {&result, &result})});
    if (is_one_of("clamp clamp_min clamp_max", name)) return make("clamped", input, {&grad});
    if (is_one_of("cumsum flip roll double float half bfloat16 to", name))
      return make("alike", input, {&grad});
    if (name == "square") return of_power(input, 2, grad);
    if (name == "pow")
      if (const auto exponent = number(made, "exponent"); exponent && *exponent != 0)
        return of_power(input, *exponent, grad);
    if (name == "abs") return make("mul", input, {&grad, make("sgn", input, {&input})});
    return nullptr;
  }

  const TensorState* of_layer(
      const Operation& operation, const Operand& operand, const TensorState& grad, std::string_view name) {
    const Producer& made = *operation.result->made;
    const TensorState &input = *operand.state, *first = made.states.empty() ? nullptr : made.states[0];
    const auto of_role = [&](std::string_view role) -> const TensorState* {
      const auto found = std::ranges::find(operation.operands, role, &Operand::role);
      return found == operation.operands.end() ? nullptr : found->state;
    };
    if (name.starts_with("conv") || name.starts_with("Conv"))
      return make(name.find("ranspose") == std::string_view::npos ? "convolution" : "transposed_convolution",
          input, {&grad, first, of_role("weight")});
    if (is_one_of(
            "BatchNorm1d BatchNorm2d BatchNorm3d batch_norm LayerNorm layer_norm InstanceNorm1d InstanceNorm2d InstanceNorm3d instance_norm",
            name))
      return make("norm", input, {&grad, first, of_role("weight")}, operation.result);
    if (is_idle_dropout(record_, made)) return &grad;
    if (is_one_of(
            "dropout Dropout dropout1d dropout2d dropout3d Dropout1d Dropout2d Dropout3d max_pool1d max_pool2d max_pool3d MaxPool1d MaxPool2d MaxPool3d",
            name))
      return make("by_numbers", input, {&grad}, operation.result);
    if (is_one_of(
            "avg_pool1d avg_pool2d avg_pool3d AvgPool1d AvgPool2d AvgPool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d interpolate upsample Upsample UpsamplingNearest2d UpsamplingBilinear2d pixel_shuffle PixelShuffle pad ZeroPad2d ReflectionPad1d ReflectionPad2d ReplicationPad2d",
            name))
      return make("alike", input, {&grad});
    const auto condition = [&](std::string_view role) { return footprint::operand(made, role); };
    if (name == "where" && condition("condition"))
      return fit(make("chosen", grad, {&grad, condition("condition")}), input);
    if (name == "masked_fill" && condition("mask") && operand.state == first)
      return make("chosen", input, {&grad, condition("mask")});
    if (name == "gather" && condition("index") && operand.state == first)
      return make("chosen", input, {&grad, condition("index")});
    if (is_one_of("nll_loss NLLLoss", name) && condition("target") && !of_role("weight"))
      return make("classes", input, {&grad, &input, condition("target")});
    if (is_one_of("embedding Embedding", name)) return make("indices", input, {&grad, first});
    const TensorState* target = footprint::operand(made, "target");
    if (is_one_of("cross_entropy CrossEntropyLoss", name) && target && !of_role("weight") &&
        !values::is_floating(graph_.dtype(*target)))
      return make("logs", input, {make("classes", input, {&grad, &input, target})}, operation.result);
    if (is_one_of("mse_loss MSELoss binary_cross_entropy BCELoss", name) && target && !of_role("weight") &&
        !Graph::requires_grad(*target))
      return make("loss", input, {&grad, &input, target});
    return nullptr;
  }

  // The gradient of one of the operation's operands; null: not known.
  const TensorState* derive(const Operation& operation, const Operand& operand, const TensorState& grad) {
    const Producer& made = *operation.result->made;
    const std::string_view name = libraries::operator_name(*made.row);
    if (is_checkpoint(made) || is_own_function(made) || is_asked_gradient(*operation.result)) return nullptr;
    const bool is_first = !made.states.empty() && operand.state == made.states[0];
    if (is_one_of("linear Linear matmul mm bmm", name)) return of_product(operation, operand, grad);
    if (is_one_of("add sub rsub mul div", name)) return of_arithmetic(operation, operand, grad, name);
    if (is_one_of("sum mean", name) && is_first) {
      const TensorState* spread = make("expand", *operand.state, {&grad});
      return name == "sum" ? spread : make("div", *operand.state, {spread});
    }
    if (is_one_of("cat stack concat concatenate hstack vstack", name))
      return make("permute", *operand.state, {&grad});
    if (is_first && !is_in_place(record_, made) && made.row->op &&
        shares_memory(record_, made, operation.result, graph_.device()))
      return of_view(operation, operand, grad);
    if (is_one_of("clone contiguous", name)) return &grad;
    if (is_one_of("reshape flatten Flatten", name)) return make("reshape", *operand.state, {&grad});
    if (is_first && operation.operands.size() == 1)
      if (const TensorState* found = of_function(operation, operand, grad, name)) return found;
    return of_layer(operation, operand, grad, name);
  }

  Gradients& into_;
  const Graph& graph_;
  const Record& record_;
  symbolic::Context& s_;
  const Producer& asked_;
  std::unordered_set<const void*> wanted_, reached_;
  std::vector<Operation> operations_;
  Gradients::Call call_;
};

Gradients& Gradients::of(const Record& record) {
  auto& known = record.derived[std::type_index(typeid(Gradients))];
  if (!known) known = std::make_shared<Gradients>();
  return *static_cast<Gradients*>(const_cast<void*>(static_cast<const void*>(known.get())));
}

const Gradients::Call& Gradients::call_of(const Graph& graph, const TensorState& asked) {
  const Producer& made = *asked.made;
  const Value outputs = argument(made, "outputs");
  const Key key{made.born.chunk, made.born.span.begin, made.calls, outputs ? outputs.object() : nullptr,
      graph.device()};
  const auto [at, is_new] = calls_.try_emplace(key);
  if (is_new && made.states.size() == 1 && made.states[0])
    at->second = GradientBuilder(*this, graph, asked).run(*made.states[0]);
  return at->second;
}

const TensorState* Gradients::followed(const Graph& graph, const TensorState& asked) {
  const Call& call = call_of(graph, asked);
  const auto found = asked.made->states.empty() ? call.of.end()
                                                : call.of.find(identity(asked.made->states[0]));
  return found == call.of.end() ? nullptr : found->second;
}
const Producer* Gradients::lost(const Graph& graph, const TensorState& asked) {
  const Producer* lost = call_of(graph, asked).lost;
  return lost ? lost : asked.made;
}

}  // namespace stepzero::footprint
