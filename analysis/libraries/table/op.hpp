// What an operator's shape function sees of its call, and how it answers: arguments by name, axes,
// broadcasting, dtypes, failures. An operator is one line of data (Operator) for all the names that it goes
// by.
#pragma once

#include "interpreter/reasons.hpp"
#include "libraries/table/shapes.hpp"
#include "values/kept.hpp"
#include "values/shape_text.hpp"

#include <string>

namespace stepzero::libraries {

class Op;

// How the dtype of a result follows from the operands (torch.result_type and each operator's documentation).
enum class Type : std::uint8_t {
  own,       // the shape function says it
  input,     // that of the first tensor
  promote,   // that of all tensors and numbers together
  floating,  // the same, but integers and bool become the default float
  boolean,
  int64,
  real,  // that of the first tensor; a complex one gives its parts' type
};

}  // namespace stepzero::libraries

namespace stepzero::libraries {
// What an operator has to do with a column [N, 1] that meets a row [N] in a loss: see column_roles.cpp.
enum class ColumnRole : std::uint8_t {
  none,
  begins,  // a difference
  keeps,   // of a difference that is squared or made positive
  ends,    // an average or sum of it: a loss
  loss,    // all in one
};
ColumnRole column_role_of(std::string_view operator_name);
void watch_column(Op& op, ColumnRole column_role, values::Value made);

// What an operator says of the elements of its result, where those of its operands are known: see
// contents.cpp. Null: nothing.
using ContentRule = void (*)(Op& op, values::Value made);
ContentRule content_rule_of(std::string_view operator_name);

// What an operator does to numbers that the makers of losses care for: see outcomes.cpp.
enum class OutcomeEffect : std::uint8_t {
  none,
  softmax,
  log_softmax,
  sigmoid,
  log_sigmoid,
  scores,
  log,
  keeps,
  adds,
  loss
};
OutcomeEffect outcome_effect_of(std::string_view operator_name);
void watch_outcome(Op& op, OutcomeEffect trace, values::Value made);
}  // namespace stepzero::libraries

namespace stepzero::values {
struct OperatorInfo {
  Value (*shape)(libraries::Op&) = nullptr;
  libraries::Type type = libraries::Type::own;
  bool has_parameters = false;             // of a layer: its result is connected to what is trained
  void (*make)(libraries::Op&) = nullptr;  // of a layer's constructor
  libraries::ColumnRole column_role = libraries::ColumnRole::none;
  libraries::ContentRule content = nullptr;
  bool writes = false;        // its name says that it writes into its first tensor
  bool takes_spread = false;  // its shape function looks at calls with `*unknown` itself
  libraries::OutcomeEffect trace = libraries::OutcomeEffect::none;
};
}  // namespace stepzero::values

namespace stepzero::libraries {

struct Operator {
  std::string_view name;  // "sigmoid"
  // As in PyTorch, the tensor first also for methods: "input, dim=None, keepdim=False, *, dtype=None,
  // out=None". It is taken at its word: a call that does not fit it is reported. `*more` and `**options` take
  // what is left over.
  std::string_view signature;
  // Where it lives, by words: torch (torch.NAME), method (torch.Tensor.NAME), in_place (torch.Tensor.NAME_
  // and, beside torch, torch.NAME_), in_shape (the same, of what changes the tensor's own shape), property
  // (torch.Tensor.NAME without a call), F (torch.nn.functional.NAME), F_ (the same with NAME_), linalg, fft,
  // special, nn.init (torch.special.NAME…). A word that starts with "torch." or "einops." is a whole path:
  // "torch.special.expit". The word `spread` is no home: the shape function is called for `f(x, *unknown)`,
  // too.
  std::string_view homes;
  Value (*shape)(Op&);
  Type type = Type::promote;
};
std::vector<Row> operator_rows(std::span<const Operator> operators);

// A module: what its constructor is given is kept as attributes of the parameters' names.
struct Layer {
  std::string_view path;       // "torch.nn.Conv2d"
  std::string_view signature;  // of the constructor
  void (*make)(Op&);           // looks at the arguments and adds what else the module has; may be null
  std::string_view inputs;     // signature of forward; the module itself left out
  Value (*forward)(Op&);
  Type type = Type::input;
  bool has_parameters = true;
  std::string_view base = "torch.nn.Module";
};
std::vector<Row> rows_of_layers(std::span<const Layer> layers);
// Gives the layer that is made the tensors that it holds, as attributes: weight, bias, running_mean…
void hold_parameters(Op& op);

using interpreter::DtypeNeed;
using interpreter::ShapeNeed;
using values::code;

class Op {
public:
  explicit Op(Call& made);

  Call& call;
  Runtime& run;
  symbolic::Context& s;

  // ------------------------------------------------------------ arguments, by the names of the signature
  // Resolved. Absent if it was not given and has no default, is None, or the signature has no such parameter.
  Value argument(std::string_view name) const;
  bool given(std::string_view name) const;  // by the caller, if only as None
  // The tensor that the argument is known to be; null otherwise.
  const TensorState* tensor(std::string_view name) const { return tensor_state(run, argument(name)); }
  const TensorState* tensor(Value value) const { return tensor_state(run, value); }
  // The same, but an unknown argument becomes a tensor: the operator takes nothing else.
  const TensorState* expect(std::string_view name);
  const Shape& shape(std::string_view name) const;  // of the tensor; the unknown shape if it is none
  bool is_number(std::string_view name) const;      // int, float or bool, known to be one
  std::optional<std::int64_t> integer(std::string_view name) const;  // if it is a known one
  Int size(std::string_view name) const;  // null if it is not known to be an integer
  std::optional<double> real(std::string_view name) const;
  std::optional<std::string_view> text(std::string_view name) const;
  // Is the flag set? `unknown` also if it was given and nothing is known of it.
  Known flag(std::string_view name) const;
  // What was asked for with dtype=; `otherwise` if nothing was; unknown if it is not known.
  values::Dtype dtype(std::string_view name, values::Dtype otherwise) const;
  // `(2, 3)`, `[2, 3]`, `2` and, where the signature has `*more` after it, `2, 3`.
  std::optional<std::vector<Int>> sizes(std::string_view name) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view name) const;  // the same, all known
  std::optional<std::vector<Value>> sequence(std::string_view name) const;         // of a list or tuple
  // False, after fail(), if the argument is known to be no tensor.
  bool must_be_tensor(std::string_view name);
  // False, after fail(), if two of the tensors, the layer's own included, are known to lie on different
  // devices.
  bool on_one_device();
  struct Apart {
    std::string_view one, other;
    symbolic::Cond when = nullptr;
  };
  Apart devices_apart(const values::Device& one, const values::Device& other);
  // All tensors among the arguments, those in lists included, in order.
  const std::vector<Value>& tensors() const;
  bool takes_more() const;  // than those: a list of which not all is known, or something that holds tensors

  // ------------------------------------------------------------ dimensions
  Dim dim(std::int64_t size) const { return {s.constant(size), nullptr, nullptr}; }
  Dim dim(Int size) const { return {size, nullptr, nullptr}; }
  // With this call as its origin: "from `what`".
  Dim made(Int size, std::string_view what = {}) const {
    return known_dim(run, size, call.place, what.empty() ? call.row.path : what);
  }
  std::optional<std::int64_t> value(const Dim& d) const { return d.size ? s.value(d.size) : std::nullopt; }
  symbolic::Answer equal(const Dim& a, const Dim& b) const;
  symbolic::Answer equal(const Dim& a, std::int64_t b) const { return equal(a, dim(b)); }
  // Are they different, at least unless a size that both are multiples of is 0, as B*T and B*(T - 1) are?
  // What is told next says so.
  bool never_equal(const Dim& a, const Dim& b);
  bool differ_where_positive(Int a, Int b, symbolic::Cond& where);
  symbolic::Cond unless() const {
    return unless_;
  }  // what has to hold for the sizes to differ, so far; null: nothing
  // The operator needs them equal: false if they cannot be. What is not known is held to be equal from here
  // on.
  bool must_equal(const Dim& a, const Dim& b);
  // The one of two equal sizes of which more is known.
  const Dim& better(const Dim& a, const Dim& b) const;
  // null if a factor is unknown
  Int product(std::span<const Dim> dims) const;
  // The size of `length` if `known`, else unknown: arithmetic on sizes that may be null.
  Int add(Int a, Int b) const { return a && b ? s.add(a, b) : nullptr; }
  Int sub(Int a, Int b) const { return a && b ? s.sub(a, b) : nullptr; }
  Int mul(Int a, Int b) const { return a && b ? s.mul(a, b) : nullptr; }
  // An argument that names a dimension of a tensor of `rank` dimensions, negative ones resolved. Nullopt
  // where it is not known or, after fail(), outside. A 0-dimensional tensor takes 0 and -1.
  std::optional<std::size_t> axis(std::string_view name, std::size_t rank);
  std::optional<std::size_t> axis(std::int64_t given, std::size_t rank);
  // One or several of them; nullopt if one is unknown or outside, or (after fail()) comes twice.
  std::optional<std::vector<std::size_t>> axes(std::string_view name, std::size_t rank);
  // The shape of both together; fails with `broadcast` and answers nullopt where they do not fit. Sizes that
  // are not known stay so.
  std::optional<Shape> broadcast(const Shape& a, const Shape& b);
  // Learns the tensor's shape: later operations know it. Does nothing inside a try.
  void learn(std::string_view name, const Shape& shape);
  // The last dimensions of the tensor are known to be these from here on (null ones teach nothing but that
  // they exist).
  void learn_last(std::string_view name, std::span<const Dim> dims);

  // ------------------------------------------------------------ results
  // A tensor computed from all tensor arguments, of the row's Type.
  Value result(const Shape& shape);
  Value result(const Shape& shape, values::Dtype dtype);
  Value unknown() { return result({}); }  // nothing is known of its shape
  // Made by the call alone, on the CPU or on device=: zeros, arange…
  Value fresh(const Shape& shape, values::Dtype dtype, bool random = false);
  Value tuple(std::vector<Value> items) { return run.heap().tuple(std::move(items)); }
  // `fields` are static texts, e.g. of {"values", "indices"}.
  Value named_tuple(std::vector<Value> items, std::span<const std::string_view> fields);
  // What is known of the tensor's elements; null: nothing.
  const values::Content* content(Value value) const;
  // The elements of the new tensor `made` are these, in its dtype.
  void hold_numbers(Value made, std::vector<values::Number> numbers);
  // The elements of the new tensor `made` lie in order, as those of a tensor do that is not a view of
  // another.
  Value in_order(Value made);
  // They lie densely, so far apart along each dimension. Nothing is known if there are no strides.
  Value laid_out(Value made, std::vector<Int> strides);
  std::vector<Int> strides_in_order(const Shape& shape) const;  // empty if a size is not known
  values::Dtype result_type(Type type) const;
  // What the tensors and numbers among these arguments come to together.
  values::Dtype promoted(std::initializer_list<std::string_view> names) const;
  // The operation cannot succeed on any run that gets here. The refusal says why in types
  // (interpreter/refusals.hpp). The origins of the given dimensions are told, too. Answers unknown().
  Value fail(values::ProblemKind kind, interpreter::Refusal refusal, std::initializer_list<Dim> because = {});
  // The usual refusals, of the operand that this parameter names.
  Value refuse_shape(values::ProblemKind kind, interpreter::ShapeNeed need, std::string_view parameter);
  Value refuse_dtype(interpreter::DtypeNeed need, std::string_view parameter);
  Value refuse_dtypes(std::string_view one, std::string_view other);
  Value refuse_value(std::string_view parameter, std::optional<double> least, std::optional<double> most = {},
      const Dim& given = {}, bool above = false);
  Value refuse_option(
      std::string_view parameter, std::initializer_list<std::string_view> options, std::string_view given);
  Value refuse_count(values::ProblemKind kind, std::size_t given, std::string_view unit, std::size_t expected,
      std::string_view per);
  Value refuse_number(std::string_view unit, const Dim& asked, const Dim& among = {},
      values::ProblemKind kind = values::ProblemKind::argument);
  // The failure that is told next raises this built-in exception: `op.raising("ValueError").fail(…)`. Where
  // it is not said Table::raises knows it, or nobody: then every handler may catch it.
  Op& raising(std::string_view exception) {
    raises_ = exception;
    return *this;
  }
  // It runs, and is hardly what was meant: told like a failure, and the result stands.
  void warn(values::ProblemKind kind, interpreter::Refusal refusal, std::initializer_list<Dim> because = {});
  // It fails where `when` holds, which need not be decided: then it is a warning that says so, and the result
  // stands.
  void fail_when(symbolic::Cond when, values::ProblemKind kind, interpreter::Refusal refusal,
      std::initializer_list<Dim> because = {});
  // The same where a rule words it: the event, to be filled.
  interpreter::ProblemEvent& refuse(values::ProblemKind kind);
  bool failed() const { return failed_; }
  interpreter::ProblemEvent* told() const { return problem_; }  // the last; null: none
  bool certain() const {
    return problem_ && !problem_->guarded && !problem_->assumption;
  }  // of a failure that was told
  void poison() { failed_ = true; }  // it fails because of what was told before
  // What was prepared before is hardly meant, as is seen now; it is told where it stood.
  void suspect(const interpreter::ProblemEvent& prepared);
  // After fail(): how it could be mended. Each becomes a quick-fix, preferred where `sure`.
  // "Set `parameter` to `size`" where the layer was made; offered where the size is a number.
  void suggest_constructor(std::string_view parameter, const Dim& size, bool sure = true);
  // Puts `suffix` after the argument: ".long()", ".squeeze(-1)". The title is made of both if none is given.
  void suggest_append(std::string_view parameter, std::string_view suffix, bool sure, std::string title = {});
  // Calls the method of that name instead.
  void suggest_method(std::string_view method);

  // ------------------------------------------------------------ words
  std::string words(const Dim& dim) const;
  std::string name(
      std::string_view parameter) const;  // the user's text of the argument as code: "`x`", or "the input"
  std::string plain_name(std::string_view parameter) const;
  std::string_view title() const;  // "conv2d", "Conv2d"
  // What is called, as code: a layer as the user calls it, "self.conv1", or as it was made, "nn.Conv2d(3, 8,
  // 3)"; a function by its name.
  std::string taker() const;

  // ------------------------------------------------------------ layers: attributes of the module that is
  // called
  Value kept(values::AttributeKey name) const;  // resolved; absent if None or missing
  void keep(values::AttributeKey name, Value value);
  Int kept_size(std::string_view name) const;
  // A number or a sequence of `count` of them, as sizes; nullopt if unknown. Also for arguments.
  std::optional<std::vector<Int>> per_axis(Value value, std::size_t count) const;
  values::Place born() const {
    return call.self.is(values::Kind::instance) ? call.self.object()->born : call.place;
  }
  const syntax::Expr* expression(
      std::string_view parameter) const;  // that gave the argument; null if it is not known

private:
  values::Known is_trained() const;
  void tell(values::ProblemKind kind, interpreter::Refusal refusal, std::initializer_list<Dim> because);
  values::Dtype promoted(std::span<const Value> values) const;
  std::ptrdiff_t index(std::string_view name) const;
  bool failed_ = false;
  std::string_view raises_ = {};     // see raising()
  symbolic::Cond unless_ = nullptr;  // of never_equal(): what has to hold for the sizes to differ
  interpreter::ProblemEvent* problem_ = nullptr;
  mutable bool gathered_ = false, more_ = false;
  mutable std::vector<Value> tensors_;
};

// What both Python numbers and tensors of the given dtypes come to together.
values::Dtype promote(values::Dtype a, values::Dtype b);
int category(
    values::Dtype dtype);  // bool < integers < floats < complex: a result is not written into a lower one
// "conv2d" of "torch.nn.functional.conv2d", "Conv2d" of "torch.nn.Conv2d.forward"
std::string_view last_part(std::string_view path);

// Runs the row's operator: what every Row::run of an operator points to.
Value run_operator(Call& call);
// Calls an operator by its path, as if the program had.
Value call_operator(Runtime& run, std::string_view path, std::vector<Value> arguments,
    const syntax::Expr* node, values::Place place);

}  // namespace stepzero::libraries
