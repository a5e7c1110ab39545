// Recurrent layers, their cells, and packed sequences.
#include "libraries/torch/nn/layer.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <functional>

namespace stepzero::libraries {

namespace {

constexpr std::string_view packed_class = "torch.nn.utils.rnn.PackedSequence";

Value of_instance(Runtime& run, Value object, std::string_view name) {
  const values::Slot* slot = object.as<Instance>()->attributes.find(Name(name));
  return slot ? run.resolve(slot->value) : Value{};
}
void put(Runtime& run, Instance& object, std::string_view name, Value value) {
  run.heap().set(run.heap().slot_of(object.attributes, Name(name)), value);
}

// A packed sequence: `data` [sum of the lengths, …], and what unpacking it needs: the batch and the longest
// length.
Value pack(Runtime& run, values::Place place, Value data, Int batch, Value source) {
  Instance* made = run.make_native(packed_class, place);
  put(run, *made, "data", data);
  TensorState sizes;
  sizes.dtype = Dtype::int64;
  sizes.shape = {true, {Dim{}}};
  sizes.requires_grad = Known::no;
  put(run, *made, "batch_sizes", run.heap().tensor(sizes, place));
  if (batch) put(run, *made, values::LoaderState::batch, Value::of(batch));
  if (source) put(run, *made, values::ModuleState::lengths, source);
  return Value::of(Kind::instance, made);
}

// ---------------------------------------------------------------- RNN, LSTM, GRU

struct StateSizes {
  Dim input, hidden, out;                      // out: of one direction
  Int directions = nullptr, states = nullptr;  // states: directions times layers
};
StateSizes sizes_of(Op& op) {
  StateSizes made;
  made.input = setting_dim(op, "input_size");
  made.hidden = setting_dim(op, "hidden_size");
  const Dim projected = setting_dim(op, "proj_size");
  const auto to = op.kept("proj_size") ? op.value(projected) : std::optional<std::int64_t>(0);
  made.out = to == 0 ? made.hidden : to ? projected : Dim{};
  const Known both = setting_flag(op, "bidirectional");
  if (both != Known::unknown) made.directions = op.s.constant(both == Known::yes ? 2 : 1);
  const Dim layers = setting_dim(op, "num_layers");
  made.states = op.mul(made.directions, layers.size);
  return made;
}

bool hidden_fits(Op& op, Value hidden, const Shape& wanted, std::string_view what, bool of_cell = false) {
  const TensorState* state = op.tensor(hidden);
  if (!state || !state->shape.ndim_known || !wanted.ndim_known) return true;
  bool fits = state->shape.dims.size() == wanted.dims.size();
  for (std::size_t i = 0; fits && i < wanted.dims.size(); ++i)
    fits = op.equal(state->shape.dims[i], wanted.dims[i]) != Answer::no;
  if (fits) {
    for (std::size_t i = 0; i < wanted.dims.size(); ++i)
      if (op.equal(state->shape.dims[i], wanted.dims[i]) == Answer::unknown)
        op.run.note_fit(state->shape.dims[i].size, wanted.dims[i].size, false, op.call.place);
    return true;
  }
  const std::size_t ndim = state->shape.dims.size();
  // Cells take no states of three and more dimensions at all.
  op.raising(of_cell && ndim != 1 && ndim != 2 ? "ValueError" : of_cell && ndim == 1 ? "" : "RuntimeError");
  op.fail(ProblemKind::layer_input,
      why<Reason::state_shape>(op.taker(), what, wanted, state->shape, op.name("input"), op.shape("input")));
  return false;
}

template <bool is_lstm> Value recurrent(Op& op) {
  const StateSizes sizes = sizes_of(op);
  const Value given = op.argument("input");
  const bool packed = given.is(Kind::instance) && op.run.is_a(given, packed_class);
  if (packed) op.call.arguments[0] = of_instance(op.run, given, "data");
  constexpr std::string_view batch_first[] = {"N", "L", ""}, length_first[] = {"L", "N", ""};
  const TensorState* input = packed
      ? op.expect("input")
      : take_usual(op, "input", setting_flag(op, "batch_first") == Known::yes ? batch_first : length_first);
  if (!input) return op.run.heap().unseen("", op.call.place);
  if (!packed) {
    if (input->shape.ndim_known && input->shape.dims.size() != 2 && input->shape.dims.size() != 3) {
      const bool first = setting_flag(op, "batch_first") == Known::yes;
      return op.raising("ValueError")
          .fail(ProblemKind::layer_input,
              interpreter::WrongLayout{op.taker(),
                  {(first ? "[N, L, " : "[L, N, ") + op.words(sizes.input) + "]",
                      "[L, " + op.words(sizes.input) + "]"},
                  op.name("input"), input->shape});
    }
  }
  const Dim arrives = from_right(input->shape, 0);
  if (op.never_equal(arrives, sizes.input))
    return op.raising("RuntimeError")
        .fail(ProblemKind::layer_input,
            interpreter::WrongSize{
                op.taker(), "features", sizes.input, op.name("input"), arrives, input->shape},
            {sizes.input, arrives});
  op.raising("ValueError");
  const bool fits = fits_weights(op, "input");
  op.raising({});
  if (!fits) return op.unknown();
  if (sizes.input.size && !arrives.size) {
    const Dim last[] = {sizes.input};
    op.learn_last("input", last);
    input = op.tensor("input");
  } else if (sizes.input.size) {
    op.must_equal(arrives, sizes.input);
  }
  const Shape shape = input->shape;
  const Dtype dtype = input->dtype;
  const Known first = setting_flag(op, "batch_first");

  const Dim features{op.mul(sizes.directions, sizes.out.size), sizes.out.origin, nullptr};
  const Dim last[] = {features};
  const Shape out = with_last(shape, last);
  // Of the states at the end.
  Shape hidden, cell;
  const Dim states = sizes.states ? op.made(sizes.states, "layers and directions") : Dim{};
  if (packed || (shape.ndim_known && shape.dims.size() == 3)) {
    Dim batch;
    if (packed) {
      const Value known = of_instance(op.run, given, values::LoaderState::batch);
      if (known.is(Kind::integer)) batch = op.dim(known.integer());
    } else if (first != Known::unknown) {
      batch = shape.dims[first == Known::yes ? 0 : 1];
    }
    hidden = {true, {states, batch, sizes.out}};
    cell = {true, {states, batch, sizes.hidden}};
  } else if (shape.ndim_known) {
    hidden = {true, {states, sizes.out}};
    cell = {true, {states, sizes.hidden}};
  } else {
    hidden = {false, {sizes.out}};
    cell = {false, {sizes.hidden}};
  }
  if (const Value hx = op.argument("hx")) {
    if constexpr (is_lstm) {
      if (op.tensor(hx))
        return op.fail(ProblemKind::layer_input, why<Reason::state_tensor>(op.taker(), op.name("hx")));
      if (const auto pair = op.sequence("hx")) {
        if (pair->size() != 2)
          return op.fail(
              ProblemKind::layer_input, why<Reason::state_count>(op.taker(), op.name("hx"), pair->size()));
        if (!hidden_fits(op, (*pair)[0], hidden, "a state h") ||
            !hidden_fits(op, (*pair)[1], cell, "a state c"))
          return op.unknown();
      }
    } else if (!hidden_fits(op, hx, hidden, "a state")) {
      return op.unknown();
    }
  }
  Value output = op.result(out, dtype);
  if (packed) {
    const Value batch = of_instance(op.run, given, values::LoaderState::batch);
    output = pack(op.run, op.call.place, output, batch.is(Kind::integer) ? batch.integer() : nullptr,
        of_instance(op.run, given, values::ModuleState::lengths));
  }
  const Value h = op.result(hidden, dtype);
  if constexpr (is_lstm) return op.tuple({output, op.tuple({h, op.result(cell, dtype)})});
  return op.tuple({output, h});
}

void make(Op& op) {
  op.keep("bias", op.kept(values::ModuleState::bias));
  if (!are_positive(op, {"input_size", "hidden_size", "num_layers"})) return;
  const Dim projected = setting_dim(op, "proj_size"), hidden = setting_dim(op, "hidden_size");
  if (op.kept("proj_size") && projected.size && hidden.size &&
      op.s.compare(Compare::ge, projected.size, hidden.size) == Answer::yes)
    op.fail(ProblemKind::argument, why<Reason::projection_size>(projected, hidden), {projected, hidden});
}

// ---------------------------------------------------------------- cells

template <bool is_lstm> Value cell(Op& op) {
  constexpr std::size_t ranks[] = {1, 2};
  constexpr std::string_view sizes[] = {"N", ""};
  take_usual(op, "input", sizes);
  op.raising("ValueError");
  const TensorState* input = ranked_input(op, "input", ranks);
  op.raising({});
  if (!input) return op.unknown();
  const Dim features = setting_dim(op, "input_size"), hidden = setting_dim(op, "hidden_size");
  const Dim arrives = from_right(input->shape, 0);
  if (op.never_equal(arrives, features))
    return op.raising("RuntimeError")
        .fail(ProblemKind::layer_input,
            interpreter::WrongSize{op.taker(), "features", features, op.name("input"), arrives, input->shape},
            {features, arrives});
  if (!fits_weights(op, "input")) return op.unknown();
  const Dim learned[] = {features};
  op.learn_last("input", learned);
  const Dim last[] = {hidden};
  const Shape out = with_last(op.shape("input"), last);
  const Dtype dtype = input->dtype;
  if constexpr (is_lstm) {
    if (const auto pair = op.sequence("hx"))
      for (const Value& state : *pair)
        if (!hidden_fits(op, state, out, "states", true)) return op.unknown();
    return op.tuple({op.result(out, dtype), op.result(out, dtype)});
  } else {
    if (!hidden_fits(op, op.argument("hx"), out, "a state", true)) return op.unknown();
    return op.result(out, dtype);
  }
}

// ---------------------------------------------------------------- packing

Value pack_padded(Call& call) {
  Op op(call);
  const TensorState* input = op.expect("input");
  if (!input) return call.run.heap().unseen("", call.place);
  const values::Content* lengths = op.content(op.argument("lengths"));
  std::vector<double> numbers;
  if (const auto listed = op.sequence("lengths"))
    for (const Value& item : *listed) {
      const auto number = call.run.to_constant(item);
      if (!number) break;
      numbers.push_back(static_cast<double>(*number));
    }
  if (lengths)
    for (std::size_t i = 0; i < lengths->numbers.size(); ++i) {
      const auto number = call.run.to_constant(call.run.heap().number(*lengths, i));
      if (!number) break;
      numbers.push_back(static_cast<double>(*number));
    }
  if (op.flag("enforce_sorted") == Known::yes && !std::ranges::is_sorted(numbers, std::greater{})) {
    op.fail(ProblemKind::argument, why<Reason::lengths_order>(op.name("lengths")));
    return call.run.heap().unseen("", call.place);
  }
  const Known first = op.flag("batch_first");
  Int batch = nullptr;
  Shape data;
  const Shape& shape = input->shape;
  if (shape.ndim_known && shape.dims.size() >= 2) {
    if (first != Known::unknown) batch = shape.dims[first == Known::yes ? 0 : 1].size;
    data = {true, {Dim{}}};
    data.dims.insert(data.dims.end(), shape.dims.begin() + 2, shape.dims.end());
  } else if (!shape.dims.empty()) {
    data = {false, {shape.dims.back()}};
  }
  TensorState state = computed(call.run, {op.argument("input")});
  state.shape = data;
  state.dtype = input->dtype;
  return pack(call.run, call.place, call.run.heap().tensor(state, call.place), batch, op.argument("lengths"));
}
// A list of tensors [L, …]: the sizes after the length, and how many tensors there are.
struct Listed {
  Int count = nullptr;
  Dim longest;
  const TensorState* first = nullptr;
  Value any;
};
Listed listed(Op& op, std::string_view name) {
  Listed found;
  const Value value = op.argument(name);
  if (!value) return found;
  if (const auto items = value.is(Kind::list) || value.is(Kind::tuple) ? op.run.elements(value, op.call.place)
                                                                       : std::nullopt) {
    if (items->empty()) return found;
    found.count = op.s.constant(static_cast<std::int64_t>(items->size()));
    found.any = items->front();
    found.first = op.tensor(items->front());
    Int most = nullptr;
    for (std::size_t i = 0; i < items->size(); ++i) {
      const TensorState* state = op.tensor((*items)[i]);
      const bool known = state && state->shape.ndim_known && !state->shape.dims.empty() &&
          state->shape.dims[0].size;
      if (!known) {
        most = nullptr;
        break;
      }
      most = i == 0 ? state->shape.dims[0].size : op.s.max(most, state->shape.dims[0].size);
    }
    if (most) found.longest = op.made(most);
    return found;
  }
  if (value.is(Kind::list)) found.count = values::Heap::list_state(value)->length;
  if (value.is(Kind::list)) {
    found.any = op.run.element(value, op.call.place);
    found.first = op.tensor(found.any);
  }
  return found;
}
Value pad_sequence(Op& op) {
  const Listed list = listed(op, "sequences");
  if (!list.first || !list.first->shape.ndim_known || list.first->shape.dims.empty()) return op.unknown();
  const Known first = op.flag("batch_first");
  const Dim count = list.count ? op.made(list.count) : Dim{};
  Shape shape{true, {count, list.longest}};
  if (first == Known::no)
    std::swap(shape.dims[0], shape.dims[1]);
  else if (first == Known::unknown)
    shape.dims[0] = shape.dims[1] = {};
  shape.dims.insert(shape.dims.end(), list.first->shape.dims.begin() + 1, list.first->shape.dims.end());
  return op.result(shape, list.first->dtype);
}
// The sequences of a padded batch, each as long as it was.
Value unpad_sequence(Op& op) {
  const TensorState *padded = op.expect("padded_sequences"), *lengths = op.expect("lengths");
  if (!padded) return op.run.heap().open_list(op.unknown());
  Shape shape = padded->shape;
  const Known first = op.flag("batch_first");
  if (!shape.ndim_known || shape.dims.size() < 2 || first == Known::unknown)
    return op.run.heap().open_list(op.result({}, padded->dtype));
  const std::size_t batch = first == Known::yes ? 0 : 1;
  const Dim count = shape.dims[batch];
  if (lengths && lengths->shape.ndim_known && lengths->shape.dims.size() == 1 &&
      op.equal(lengths->shape.dims[0], count) == Answer::no)
    return op.fail(ProblemKind::argument,
        interpreter::NotOneEach{
            op.taker(), "a length", count, "sequences", {}, op.name("lengths"), lengths->shape.dims[0]},
        {count, lengths->shape.dims[0]});
  shape.dims.erase(shape.dims.begin() + static_cast<std::ptrdiff_t>(batch));
  const values::Content* known = op.content(op.argument("lengths"));
  if (!known || known->is_scalar) {
    shape.dims[0] = {};
    return op.run.heap().open_list(op.result(shape, padded->dtype), count.size);
  }
  std::vector<Value> parts;
  for (const values::Number& number : known->numbers) {
    shape.dims[0] = number.integer ? op.made(number.integer) : Dim{};
    parts.push_back(op.result(shape, padded->dtype));
  }
  return op.run.heap().list(std::move(parts));
}
Value pack_sequence(Call& call) {
  Op op(call);
  const Listed list = listed(op, "sequences");
  TensorState state;
  if (list.any) state = computed(call.run, {list.any});
  if (list.first && list.first->shape.ndim_known && !list.first->shape.dims.empty()) {
    state.shape = list.first->shape;
    state.shape.dims[0] = {};
    state.dtype = list.first->dtype;
  }
  return pack(call.run, call.place, call.run.heap().tensor(state, call.place), list.count, {});
}
Value pad_packed(Call& call) {
  Op op(call);
  const Value sequence = op.argument("sequence");
  if (!sequence.is(Kind::instance) || !call.run.is_a(sequence, packed_class)) {
    return call.run.heap().tuple(
        {call.run.heap().unseen("", call.place), call.run.heap().unseen("", call.place)});
  }
  const Value data = of_instance(call.run, sequence, "data"),
              batch = of_instance(call.run, sequence, values::LoaderState::batch);
  const Dim count = batch.is(Kind::integer) ? op.dim(batch.integer()) : Dim{};
  TensorState state = computed(call.run, {data});
  const TensorState* from = op.tensor(data);
  const Known first = op.flag("batch_first");
  Dim longest;
  if (const Int total = op.size("total_length")) longest = op.made(total);
  if (from && from->shape.ndim_known && !from->shape.dims.empty()) {
    state.shape = {true, {count, longest}};
    if (first == Known::no)
      std::swap(state.shape.dims[0], state.shape.dims[1]);
    else if (first == Known::unknown)
      state.shape.dims[0] = state.shape.dims[1] = {};
    state.shape.dims.insert(state.shape.dims.end(), from->shape.dims.begin() + 1, from->shape.dims.end());
  } else if (from && !from->shape.dims.empty()) {
    state.shape = {false, {from->shape.dims.back()}};
  }
  if (from) state.dtype = from->dtype;
  TensorState lengths;
  lengths.dtype = Dtype::int64;
  lengths.shape = {true, {count}};
  lengths.requires_grad = Known::no;
  lengths.device = call.run.heap().device("cpu").as<values::Device>();
  return call.run.heap().tuple(
      {call.run.heap().tensor(state, call.place), call.run.heap().tensor(lengths, call.place)});
}

// ---------------------------------------------------------------- rows

constexpr std::string_view made =
    "input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, device=None, dtype=None";
constexpr Layer recurrent_layers[] = {
    {"torch.nn.RNN",
        "input_size, hidden_size, num_layers=1, nonlinearity='tanh', bias=True, batch_first=False, dropout=0.0, bidirectional=False, device=None, dtype=None",
        make, "input, hx=None", recurrent<false>},
    {"torch.nn.GRU", made, make, "input, hx=None", recurrent<false>},
    {"torch.nn.LSTM",
        "input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, proj_size=0, device=None, dtype=None",
        make, "input, hx=None", recurrent<true>},
    {"torch.nn.RNNCell", "input_size, hidden_size, bias=True, nonlinearity='tanh', device=None, dtype=None",
        nullptr, "input, hx=None", cell<false>},
    {"torch.nn.GRUCell", "input_size, hidden_size, bias=True, device=None, dtype=None", nullptr,
        "input, hx=None", cell<false>},
    {"torch.nn.LSTMCell", "input_size, hidden_size, bias=True, device=None, dtype=None", nullptr,
        "input, hx=None", cell<true>},
};

constexpr Operator recurrent_operators[] = {
    {"unpad_sequence", "padded_sequences, lengths, batch_first=False", "torch.nn.utils.rnn.unpad_sequence",
        unpad_sequence, Type::own},
    {"pad_sequence", "sequences, batch_first=False, padding_value=0.0, padding_side='right'",
        "torch.nn.utils.rnn.pad_sequence", pad_sequence, Type::own},
};

}  // namespace

std::vector<Row> recurrent_rows() {
  using enum RowKind;
  std::vector<Row> rows = rows_of(recurrent_layers, recurrent_operators);
  rows.push_back(row(
      packed_class, class_, "data, batch_sizes=None, sorted_indices=None, unsorted_indices=None", nullptr));
  rows.push_back(row("torch.nn.utils.rnn.pack_padded_sequence", function,
      "input, lengths, batch_first=False, enforce_sorted=True", pack_padded));
  rows.push_back(
      row("torch.nn.utils.rnn.pack_sequence", function, "sequences, enforce_sorted=True", pack_sequence));
  rows.push_back(row("torch.nn.utils.rnn.pad_packed_sequence", function,
      "sequence, batch_first=False, padding_value=0.0, total_length=None", pad_packed));
  return rows;
}

}  // namespace stepzero::libraries
