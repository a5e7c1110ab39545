// Calls of code that is not seen: what they give, and what is recorded of them.
#include "interpreter/calls/library_calls.hpp"
#include "interpreter/calls/noted_events.hpp"
#include "interpreter/calls/unseen_code.hpp"

#include "interpreter/calls/unseen.hpp"
#include "interpreter/calls/unseen_notes.hpp"
#include "interpreter/classes/self_writes.hpp"
#include "interpreter/presumed_rank.hpp"
#include "interpreter/roots/required_ndims.hpp"
#include "syntax/text.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"
#include "values/kept_by_packages.hpp"

#include <algorithm>
#include <optional>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
constexpr std::size_t most_kept = 32;  // fields of a dict that unseen code is handed
}  // namespace

namespace {
const Name looked_up{
    values::UnknownState::looked_up};  // of a value that a mapping gave, or None where it has no such key

constexpr int most_choices = 4;  // that lie in each other
void each_unknown(Value value, const std::function<void(const values::Unknown&)>& look, int depth = 0) {
  if (value.is(Kind::unknown)) look(*value.as<values::Unknown>());
  if (!value.is(Kind::choice) || depth >= most_choices) return;
  each_unknown(value.as<values::Choice>()->yes, look, depth + 1);
  each_unknown(value.as<values::Choice>()->no, look, depth + 1);
}

// Whether `mapping.get(key)` finds something is for the mapping to say: a function that asks whether it is
// given None may always be.
void note_looked_up(values::Heap& heap, Value function, const Arguments& arguments, Value made) {
  if (!function.is(Kind::unknown) || !made.is(Kind::unknown) ||
      !function.as<values::Unknown>()->name.ends_with(".get"))
    return;
  if (arguments.spread || !arguments.keywords.empty() || arguments.positional.empty() ||
      arguments.positional.size() > 2)
    return;
  if (arguments.positional.size() == 1 || arguments.positional.back().is(Kind::none))
    heap.slot_of(made.as<values::Unknown>()->attributes, looked_up).value =
        Value::none();  // it is new: no write
}
}  // namespace

bool UnseenCode::asked_by_callee() const {
  std::size_t end = run_.path_.size();
  const auto is_taken = [&](Cond condition, std::size_t from) {
    return std::any_of(run_.path_.begin() + static_cast<std::ptrdiff_t>(std::min(from, end)),
        run_.path_.begin() + static_cast<std::ptrdiff_t>(end), [&](Cond taken) {
          return taken == condition ||
              (record_.symbols.form(taken) == symbolic::Context::Form::conjunction &&
                  std::ranges::find(record_.symbols.operands(taken), condition) !=
                      record_.symbols.operands(taken).end());
        });
  };
  for (const Frame* frame = run_.frame_; frame && frame->outer;
      end = std::min(end, frame->depth), frame = frame->outer) {
    if (!frame->function || !frame->function->parameters) continue;
    for (const syntax::Parameter& parameter : frame->function->parameters->list) {
      const values::Slot* slot = frame->scope->names.find(parameter.name);
      bool asked = false;
      if (slot)
        each_unknown(slot->value, [&](const values::Unknown& given) {
          if (!given.is_none) return;
          if (!given.default_value.is(Kind::none) && slot->value.is(Kind::unknown))
            asked = asked || is_taken(given.is_none, frame->depth);
          if (given.attributes.find(looked_up))
            asked = asked || is_taken(record_.symbols.logical_not(given.is_none), frame->depth);
        });
      if (asked) return true;
    }
  }
  return false;
}

namespace {
// A dictionary as it is now: whoever has it may change it. Others, and those of which not all is known, are
// themselves.
Value as_it_is(values::Heap& heap, Value value) {
  if (!value.is(Kind::dict)) return value;
  const auto* state = values::Heap::dict_state(value);
  if (state->open || state->items.empty() || state->items.size() > most_kept) return value;
  const Value now = heap.dict(std::vector(state->items));
  now.object()->born = value.object()->born;
  return now;
}
}  // namespace

std::string imported_from(Value function) {
  if (!function.is(Kind::unknown)) return {};
  const auto* called = function.as<values::Unknown>();
  const Value module = called->attributes.value(Name(values::UnknownState::imported));
  if (module.is(Kind::string)) return std::string(module.text()) + "." + std::string(called->name);
  return called->name.find('.') == std::string_view::npos ? std::string() : std::string(called->name);
}

// Objects that are handed to what is not seen may be used there.
void UnseenCode::record_unseen(Value function, const Arguments& arguments, Place where) {
  if (run_.dry_runs_ > 0) return;
  if (const std::string called = arguments.keywords.empty() ? std::string() : imported_from(function);
      !called.empty() && run_.library_.find(values::InternalRow::settings + called)) {
    std::vector<std::pair<Value, Value>> settings;
    settings.reserve(arguments.keywords.size());
    for (const auto& [name, argument] : arguments.keywords)
      settings.emplace_back(heap().string(name.text()), as_it_is(heap(), run_.resolve(argument)));
    const bool open = arguments.spread || !arguments.positional.empty();
    if (OperationEvent* event = run_.noted_->record_implied(values::InternalRow::settings + called, function,
            {heap().dict(std::move(settings), open)}, {}, where))
      run_.append(event);
  }
  std::vector<Value> handed;
  const auto look = [&](Value value) {
    value = run_.resolve(value);
    switch (value.kind) {
    case Kind::dict: {
      handed.push_back(value);
      if (const Value now = as_it_is(heap(), value); !(now == value)) handed.push_back(now);
      return;
    }
    case Kind::instance:
    case Kind::list:
    case Kind::tuple:
    case Kind::function:
    case Kind::bound:
    case Kind::iterator:
    case Kind::choice: handed.push_back(value); return;
    case Kind::tensor:
      if (value.as<values::Tensor>()->now()->is_gradient) handed.push_back(value);
      return;
    case Kind::unknown:
      if (value.as<values::Unknown>()->is_gradient) handed.push_back(value);
      return;
    default: return;
    }
  };
  for (const Value& argument : arguments.positional) look(argument);
  for (const auto& [name, argument] : arguments.keywords) look(argument);
  const Row* row = handed.empty() ? nullptr : run_.library_.find(values::InternalRow::unseen);
  if (!row) return;
  auto* event = record_.event<OperationEvent>();
  event->place = where;
  event->calls = run_.site_;
  event->row = row;
  event->self = function;
  event->arguments = {heap().tuple(std::move(handed))};
  event->tensors.resize(2);
  event->lists.resize(event->arguments.size());
  event->around = run_.around_;
  run_.append(event);
}

namespace {
// A method of tensors, of something that is known to differ from rank to rank: so does what it gives.
bool is_of_own_data(Interpreter& run, Value function) {
  if (!function.is(Kind::unknown)) return false;
  const auto& method = *function.as<values::Unknown>();
  const Value object = method.attributes.value(Name(values::UnknownState::whole));
  if (!object.is(Kind::unknown)) return false;
  const auto& of = *object.as<values::Unknown>();
  const Row* row = run.method_row(
      run.library().types().tensor, Name(method.name.substr(method.name.rfind('.') + 1)));
  return row && (row->op || row->operation == values::Operation::transfer) && of.sharing == Sharing::local;
}
}  // namespace

namespace {
// "swiglu": the library knows it for an activation that halves what it is given.
bool names_gate(Interpreter& run, Value argument) {
  return argument.is(Kind::string) &&
      run.library().find(values::InternalRow::keeps_size + ("!" + std::string(argument.text())));
}

// `is_main_process()`, `get_rank()` of a module that is not seen: absent of what is called otherwise, and
// where no rank is run.
Value asked_for_rank(Interpreter& run, std::string_view function, const Arguments& arguments) {
  if (!arguments.positional.empty() || !arguments.keywords.empty() || arguments.spread) return {};
  const auto meant = run.library().presume(std::string(function.substr(function.rfind('.') + 1)) + "()");
  if (!meant || meant->of_each || !(meant->is_main || meant->role == symbolic::Role::rank)) return {};
  static_cast<void>(run.role(symbolic::Role::rank));  // it was asked for
  if (!run.as_rank()) return {};
  const std::string text = "`" + std::string(function) + "()`";
  const Int rank = presumed_rank(
      run, text + (meant->is_main ? " is true on rank 0 alone" : " is the rank"), symbolic::Sharing::unseen);
  if (!meant->is_main) return Value::of(rank);
  return Value::of(run.symbols().compared(symbolic::Compare::eq, rank, run.symbols().constant(0)));
}
}  // namespace

// What unseen code made is called after that code. Where it is called itself, the program says what it is:
// `net(x)`, of `net = build()`.
static std::string spoken_name(const Record& record, const std::string& name, Place where) {
  if (!name.ends_with(')') || !where) return name;
  const std::string_view text = record.text(where);
  const std::string_view called = text.substr(0, text.find('('));
  const auto is_path = [](char c) { return c == '.' || syntax::is_word(c); };
  return !called.empty() && std::ranges::all_of(called, is_path) ? std::string(called) : name;
}

namespace {
// Whoever has a list may change it: what it held when it was handed on is kept in tuples. Nothing if there is
// no list.
std::optional<Arguments> with_lists_as_they_are(Interpreter& run, const Arguments& arguments) {
  if (std::ranges::none_of(
          arguments.positional, [&](Value each) { return run.resolve(each).is(Kind::list); }))
    return std::nullopt;
  Arguments shown = arguments;
  for (Value& argument : shown.positional) {
    const Value list = run.resolve(argument);
    if (!list.is(Kind::list)) continue;
    const auto* state = values::Heap::list_state(list);
    std::vector<Value> parts(state->items.begin(),
        state->items.begin() + std::ptrdiff_t(std::min(state->items.size(), most_kept)));
    if (state->rest) parts.push_back(state->rest);
    argument = run.heap().tuple(std::move(parts));
  }
  return shown;
}
}  // namespace

Value UnseenCode::call_unknown(Value function, const Arguments& arguments, Place where) {
  ++run_.may_raise_;
  // A function that is running has shown what it does with what it gets: it is not run once more.
  const auto running = function.is(Kind::function) ? run_.active_.find(function.as<values::Function>())
                                                   : run_.active_.end();
  if (running == run_.active_.end() || running->second == 0) record_unseen(function, arguments, where);
  note_unseen_communication(function, arguments, where);
  const std::optional<Arguments> listed = with_lists_as_they_are(run_, arguments);
  const Arguments& as_given = listed ? *listed : arguments;
  for (const Value& argument : arguments.positional) escape(argument);
  for (const auto& [name, argument] : arguments.keywords) escape(argument);
  if (function.is(Kind::unknown))  // it may be one of several that are known
    if (const Value functions = function.as<values::Unknown>()->attributes.value(
            Name(values::UnknownState::one_of)))
      escape(functions);
  if (function.is(Kind::unknown))
    if (const Value object = function.as<values::Unknown>()->attributes.value(
            Name(values::UnknownState::whole));
        object.is(Kind::unknown))
      lose_settings(*object.as<values::Unknown>(), false);
  lose_patched(arguments, where);
  std::string name;
  if (function.is(Kind::unknown))
    name = function.as<values::Unknown>()->name;
  else if (function.is(Kind::function))
    name = function.as<values::Function>()->qualified;
  const std::string spoken = spoken_name(run_.record_, name, where);
  const auto dot = name.rfind('.');
  if (run_.limits_.as_rank && dot != std::string::npos)
    run_.resized_.insert("len(" + name.substr(0, dot) + ")");
  if (run_.library_.seeds(std::string_view(name).substr(name.rfind('.') + 1)))
    run_.note_seed(arguments.positional.empty() ? Value{} : arguments.positional[0]);
  const std::string called = name.empty() ? "" : name + "()";
  if (const Value asked = asked_for_rank(run_, name, arguments)) return asked;
  const Value made = heap().unseen(called, where);
  if (std::ranges::any_of(
          arguments.positional, [&](Value argument) { return names_gate(run_, run_.resolve(argument)); }))
    heap().slot_of(made.as<values::Unknown>()->attributes, Name(values::UnseenActivationState::gated)).value =
        heap().boolean(true);
  if (is_of_own_data(run_, function)) made.as<values::Unknown>()->sharing = Sharing::local;
  if (function.is(Kind::unknown) && run_.switches_ == 0 &&
      (!run_.around_ || run_.around_->gradients != values::Known::no))
    note_computed(run_, made, function, name, arguments);
  note_transfer(run_, made, function, arguments);
  const bool by_model = function.is(Kind::unknown) && is_model(run_, function, spoken);
  if (by_model) note_place_by_model(run_, made, arguments);
  note_given_by(heap(), made, function);
  // Of an object that was asked for a mode it is recorded what it does, as of a module.
  const auto give_together = [&](Value model) {
    const Row* inputs = arguments.spread ? nullptr : run_.library_.find(values::InternalRow::given_together);
    if (!inputs) return;
    Arguments given = as_given;
    for (const auto& [keyword, value] : given.keywords) given.positional.push_back(value);
    given.keywords.clear();
    run_.library_calls_->call_library(
        *run_.library_symbol(inputs->path).as<values::LibrarySymbol>(), model, given, where, nullptr);
  };
  const Role role = function.is(Kind::unknown) ? role_of(run_, *function.as<values::Unknown>(), arguments)
                                               : Role{};
  if (role.row && (role.row->run || role.row->operation != values::Operation::none)) {
    const Value object = Value::of(Kind::unknown, role.object);
    // `model = model.eval()` is the model.
    if (role.row->run) {
      const Value result = run_.library_calls_->call_library(
          *run_.library_symbol(role.row->path).as<values::LibrarySymbol>(), object, as_given, where, nullptr);
      if (result == object) return object;
    } else if (OperationEvent* event = run_.noted_->record_implied(role.row->path, object, {}, made, where)) {
      run_.append(event);
      if (role.row->operation == values::Operation::forward) give_together(object);
    }
  } else if (by_model && spoken != name) {
    give_together(function);
  }
  note_looked_up(heap(), function, arguments, made);
  if (!arguments.spread && arguments.positional.empty() && arguments.keywords.empty())
    note_asked_ndim(run_, function, made);
  made.as<values::Unknown>()->poisoned = heap().is_poisoned(function) ||
      std::any_of(arguments.positional.begin(), arguments.positional.end(),
          [&](Value value) { return heap().is_poisoned(run_.resolve(value)); });
  return made;
}

}  // namespace stepzero::interpreter
