#include "libraries/torch/distributed/messages.hpp"
#include "interpreter/one_rank.hpp"

#include <algorithm>
#include <limits>

namespace stepzero::libraries {

namespace {

const values::Content* content_of(Runtime& run, const PeerMessages::Sent& sent) {
  std::vector<values::Number> numbers;
  numbers.reserve(sent.whole.size());
  for (const std::int64_t whole : sent.whole) numbers.push_back({run.symbols().constant(whole)});
  for (const double real : sent.real) numbers.push_back({nullptr, real, real});
  return run.heap().content(sent.dtype, sent.is_scalar, std::move(numbers));
}

// Objects as numbers: what each is, and then what it holds.
enum class Sent : std::int64_t { none, boolean, integer, text, tuple, list, dict, something };

bool write(const symbolic::Context& symbols, Value value, std::vector<std::int64_t>& into);

// Of a part it need not be known what it is.
void write_part(const symbolic::Context& symbols, Value value, std::vector<std::int64_t>& into) {
  const std::size_t before = into.size();
  if (write(symbols, value, into)) return;
  into.resize(before);
  into.push_back(static_cast<std::int64_t>(Sent::something));
}

bool write(const symbolic::Context& symbols, Value value, std::vector<std::int64_t>& into) {
  const auto begin = [&](Sent what) { into.push_back(static_cast<std::int64_t>(what)); };
  switch (value.kind) {
  case Kind::none: begin(Sent::none); return true;
  case Kind::boolean: {
    const auto holds = symbols.decide(value.condition());
    begin(Sent::boolean);
    into.push_back(holds == symbolic::Answer::yes);
    return holds != symbolic::Answer::unknown;
  }
  case Kind::integer: {
    const auto number = symbols.value(value.integer());
    begin(Sent::integer);
    into.push_back(number.value_or(0));
    return number.has_value();
  }
  case Kind::string: {
    const std::string_view text = value.text();
    begin(Sent::text);
    into.push_back(static_cast<std::int64_t>(text.size()));
    into.insert(into.end(), text.begin(), text.end());
    return true;
  }
  case Kind::tuple: {
    const auto& items = value.as<values::Tuple>()->items;
    begin(Sent::tuple);
    into.push_back(static_cast<std::int64_t>(items.size()));
    return std::ranges::all_of(items, [&](Value item) { return write(symbols, item, into); });
  }
  case Kind::list: {
    const values::ListState& list = *values::Heap::list_state(value);
    const bool is_whole = !list.open && value.as<values::List>()->kind == values::ListKind::list;
    begin(is_whole ? Sent::list : Sent::something);
    if (!is_whole) return true;
    into.push_back(static_cast<std::int64_t>(list.items.size()));
    for (const Value item : list.items) write_part(symbols, item, into);
    return true;
  }
  case Kind::dict: {
    const values::DictState& dict = *values::Heap::dict_state(value);
    begin(dict.open ? Sent::something : Sent::dict);
    if (dict.open) return true;
    into.push_back(static_cast<std::int64_t>(dict.items.size()));
    for (const auto& [key, item] : dict.items) {
      write_part(symbols, key, into);
      write_part(symbols, item, into);
    }
    return true;
  }
  // What it is the receiver may not ask.
  case Kind::tensor:
  case Kind::real: begin(Sent::something); return true;
  default: return false;
  }
}

Value read(Runtime& run, values::Place place, const std::vector<std::int64_t>& from, std::size_t& at) {
  const auto next = [&] { return at < from.size() ? from[at++] : 0; };
  switch (static_cast<Sent>(next())) {
  case Sent::none: return Value::none();
  case Sent::boolean: return run.heap().boolean(next() != 0);
  case Sent::integer: return run.heap().integer(next());
  case Sent::text: {
    std::string text;
    for (std::int64_t left = next(); left > 0; --left) text += static_cast<char>(next());
    return run.heap().string(text);
  }
  case Sent::tuple: {
    std::vector<Value> items;
    for (std::int64_t left = next(); left > 0; --left) items.push_back(read(run, place, from, at));
    return run.heap().tuple(std::move(items));
  }
  case Sent::list: {
    std::vector<Value> items;
    for (std::int64_t left = next(); left > 0; --left) items.push_back(read(run, place, from, at));
    return run.heap().list(std::move(items));
  }
  case Sent::dict: {
    std::vector<std::pair<Value, Value>> items;
    for (std::int64_t left = next(); left > 0; --left) {
      const Value key = read(run, place, from, at);
      items.emplace_back(key, read(run, place, from, at));
    }
    return run.heap().dict(std::move(items));
  }
  case Sent::something: break;
  }
  return run.heap().unknown("", symbolic::Sharing::uniform, place);
}

constexpr std::int64_t tensors_of_root = std::numeric_limits<std::int64_t>::min(),
                       objects_of_root = tensors_of_root + 1;

}  // namespace

std::optional<PeerMessages::Channel> broadcast_of(const Row& row, std::int64_t root) {
  if (row.path == "torch.distributed.broadcast")
    return PeerMessages::Channel{static_cast<int>(root), tensors_of_root};
  if (row.path == "torch.distributed.broadcast_object_list")
    return PeerMessages::Channel{static_cast<int>(root), objects_of_root};
  return std::nullopt;
}

std::optional<PeerMessages::Sent> objects_sent(
    const symbolic::Context& symbols, const values::ListState& list) {
  if (list.open) return std::nullopt;
  PeerMessages::Sent made{Dtype::unknown, false, {static_cast<std::int64_t>(list.items.size())}, {}};
  for (const Value item : list.items)
    if (!write(symbols, item, made.whole)) return std::nullopt;
  return made;
}

void hear_broadcast(Call& call, const values::Content* before, const values::ListState* list_before) {
  Runtime& run = call.run;
  if (!run.as_rank() || !call.row.collective || call.spread) return;
  const auto& info = *call.row.collective;
  const auto argument = [&](int at) {
    return at >= 0 ? run.resolve(call.at(static_cast<std::size_t>(at))) : Value{};
  };
  const auto given = [](Value value) { return value && !value.is(Kind::none); };
  const Value group = argument(info.group), root_value = argument(info.root), async = argument(info.async);
  constexpr std::int64_t unknown = -1;
  const std::int64_t root = given(root_value) ? run.to_constant(root_value).value_or(unknown)
      : root_value                            ? unknown
                                              : 0;
  const bool waits = !given(async) ||
      (async.is(Kind::boolean) && run.symbols().decide(async.condition()) == symbolic::Answer::no);
  if (root == unknown || given(group) || given(argument(info.group_root))) return;
  const Value what = run.resolve(call.at(0));
  Instance* heard = run.heard();
  // Where the others do not know what was sent, the root, which does, must not seem to differ from them.
  if (!heard) return;
  if (root == run.as_rank()->rank) {
    if (before && what.is(Kind::tensor)) {
      TensorState kept = *tensor_state(run, what);
      kept.content = run.heap().content(before->dtype, before->is_scalar, before->numbers);
      set_state(run, what, kept);
    } else if (list_before && what.is(Kind::list)) {
      run.heap().set_list(what, *list_before);
    }
    return;
  }
  const auto channel = broadcast_of(call.row, root);
  if (!channel || run.guarded() || root < 0 ||
      root >= static_cast<std::int64_t>(run.as_rank()->told->all.size()))
    return;
  const PeerMessages& told = *run.as_rank()->told;
  const auto found = told.sent.find(*channel);
  if (found == told.sent.end()) return;
  const auto number = run.to_constant(kept(run, *heard, PeerMessages::counter(*channel)));
  if (!number) return;
  keep(run, *heard, PeerMessages::counter(*channel), run.heap().integer(*number + 1));
  const auto at = static_cast<std::size_t>(*number);
  if (at >= found->second.size()) {
    if (told.all[static_cast<std::size_t>(channel->first)] && waits) run.exit_process();
    return;
  }
  const auto& sent = found->second[at];
  if (!sent || !waits) return;
  if (what.is(Kind::list)) {
    if (sent->dtype != Dtype::unknown || sent->whole.empty()) return;
    values::ListState state = *values::Heap::list_state(what);
    if (state.open || static_cast<std::int64_t>(state.items.size()) != sent->whole.front()) return;
    std::size_t next = 1;
    for (Value& item : state.items) item = read(run, call.place, sent->whole, next);
    run.heap().set_list(what, std::move(state));
    return;
  }
  const TensorState* state = what.is(Kind::tensor) ? tensor_state(run, what) : nullptr;
  if (!state || state->dtype != sent->dtype) return;
  TensorState filled = *state;
  filled.content = content_of(run, *sent);
  set_state(run, what, filled);
}

void forget_content(Call& call, Value tensor) {
  tensor = call.run.resolve(tensor);
  const TensorState* state = tensor.is(Kind::tensor) ? tensor_state(call.run, tensor) : nullptr;
  if (!state || !state->content || !call.run.as_rank() || call.run.heap().content_of(*state)) return;
  TensorState refined = *state;
  refined.content = nullptr;
  refined.extent = nullptr;
  set_state(call.run, tensor, refined);
}

void hear_anything(Runtime& run) {
  if (Instance* heard = run.heard()) keep(run, *heard, PeerMessages::lost, run.heap().boolean(true));
}

void hear(Call& call) {
  Runtime& run = call.run;
  Instance* heard = run.heard();
  if (!heard) return;
  const values::MessageInfo& info = *call.row.message;
  const auto argument = [&](int at) {
    return at >= 0 ? run.resolve(call.at(static_cast<std::size_t>(at))) : Value{};
  };
  const auto given = [](Value value) { return value && !value.is(Kind::none); };
  const Value tag_value = argument(info.tag);
  const auto sender = run.to_constant(argument(info.peer)),
             tag = given(tag_value) ? run.to_constant(tag_value) : 0;
  const PeerMessages& told = *run.as_rank()->told;
  // Of whatever sender, or in a group: nothing that follows is followed.
  if (!sender || !tag || *sender < 0 || *sender >= static_cast<std::int64_t>(told.all.size()) ||
      given(argument(info.group)) || given(argument(info.group_peer)) || run.guarded() || call.spread)
    return hear_anything(run);
  if (const Value lost = kept(run, *heard, PeerMessages::lost);
      !lost.is(Kind::boolean) || run.symbols().decide(lost.condition()) != symbolic::Answer::no)
    return;
  const PeerMessages::Channel channel{static_cast<int>(*sender), *tag};
  const auto found = told.sent.find(channel);
  const std::size_t all = found == told.sent.end() ? 0 : found->second.size();
  std::size_t before = 0;
  if (found != told.sent.end()) {
    const auto number = run.to_constant(kept(run, *heard, PeerMessages::counter(channel)));
    if (!number) return;
    before = static_cast<std::size_t>(*number);
    keep(run, *heard, PeerMessages::counter(channel), run.heap().integer(*number + 1));
  }
  if (before >= all) {
    if (told.all[static_cast<std::size_t>(channel.first)] && !info.starts) run.exit_process();
    return;
  }
  const auto& sent = found->second[before];
  const Value tensor = run.resolve(call.at(0));
  const TensorState* state = tensor.is(Kind::tensor) ? tensor_state(run, tensor) : nullptr;
  if (!sent || info.starts || !state || state->dtype != sent->dtype) return;
  TensorState filled = *state;
  filled.content = content_of(run, *sent);
  set_state(run, tensor, filled);
}

}  // namespace stepzero::libraries
