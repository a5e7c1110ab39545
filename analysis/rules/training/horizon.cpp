#include "rules/training/horizon.hpp"

#include "rules/training/loaders.hpp"
#include "rules/training/own_schedule.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using symbolic::Int;
using values::Kind;

Int length_of(const Record& record, const LoopEvent& loop) {
  return loop.unrolled ? record.symbols.constant(static_cast<std::int64_t>(loop.iterations.size()))
                       : loop.length;
}
std::set<Int> atoms_of(const Record& record, Int size) {
  std::set<Int> found;
  record.symbols.atoms(size, [&](Int atom) { found.insert(atom); });
  return found;
}

Int rounds_around(const Record& record, const std::vector<const TrainingEvent*>& operations) {
  auto& s = record.symbols;
  std::set<const LoopEvent*> counted;
  Int all = s.constant(0);
  for (const TrainingEvent* each : operations) {
    if (each->in_handler || each->loops.empty()) return nullptr;
    if (!counted.insert(each->loops.back()).second) continue;
    Int iterations = length_of(record, *each->loops.back());
    // Of a loop that is run iteration by iteration each iteration has inner loops of its own.
    for (const LoopEvent* outer : each->loops)
      if (outer != each->loops.back() && !outer->unrolled && iterations)
        iterations = outer->length ? s.mul(iterations, outer->length) : nullptr;
    if (!iterations) return nullptr;
    all = s.add(all, iterations);
  }
  return counted.empty() ? nullptr : all;
}

bool same_size(const Record& record, Int a, Int b) {
  std::set<Int> atoms = atoms_of(record, a);
  for (const Int atom : atoms_of(record, b)) atoms.insert(atom);
  for (const std::int64_t begin : {11, 29}) {
    std::vector<symbolic::Assignment> values;
    values.reserve(atoms.size());
    for (const Int atom : atoms)
      values.push_back({atom, begin + 6 * static_cast<std::int64_t>(values.size())});
    const auto left = record.symbols.value(record.symbols.substitute(a, values)),
               right = record.symbols.value(record.symbols.substitute(b, values));
    if (!left || left != right) return false;
  }
  return true;
}
bool same_size_at_first(const Record& record, Int size, Int left) {
  const std::set<Int> own = atoms_of(record, size);
  std::vector<symbolic::Assignment> none;
  for (const Int atom : atoms_of(record, left))
    if (!own.contains(atom)) none.push_back({atom, 0});
  return !own.empty() && none.size() == 1 && same_size(record, size, record.symbols.substitute(left, none));
}

Int as_size(Value value) {
  if (value.is(Kind::unknown)) return value.as<values::Unknown>()->integer;
  return value.is(Kind::integer) ? value.integer() : nullptr;
}

namespace {

// The function that a value calls in the end, and of a list of them those.
void functions_of(Value value, std::vector<const values::Function*>& found) {
  switch (value.kind) {
  case Kind::function: found.push_back(value.as<values::Function>()); break;
  case Kind::bound: functions_of(value.as<values::Bound>()->function, found); break;
  case Kind::partial: functions_of(value.as<values::Partial>()->function, found); break;
  case Kind::list:
    for (const Value& item : values::Heap::list_state(value)->items) functions_of(item, found);
    break;
  default: break;
  }
}

}  // namespace

Marks marks_of(const Record& record, const OperationEvent& made) {
  Marks marks;
  const auto add = [&](Marks::Of of, std::string_view name) {
    const Value value = argument(made, name);
    if (const Int size = as_size(value)) {
      marks.of = of;
      marks.at.push_back(size);
    } else if (value.is(Kind::list)) {
      marks.of = of;
      for (const Value& item : values::Heap::list_state(value)->items) {
        const Int number = as_size(item);
        if (!number) return marks.at.clear();
        marks.at.push_back(number);
      }
    }
  };
  using enum Marks::Of;
  for (const std::string_view name : {"total_steps", "num_training_steps"}) add(total, name);
  const Int epochs = as_size(argument(made, "epochs")), each = as_size(argument(made, "steps_per_epoch"));
  if (marks.at.empty() && epochs && each) {
    marks.of = total;
    marks.at.push_back(record.symbols.mul(epochs, each));
  }
  marks.ends = marks.of == total;
  add(total, "total_iters");
  marks.raises = marks.ends && static_cast<bool>(argument(made, "max_lr"));
  add(period, "T_max");
  for (const std::string_view name : {"step_size", "milestones"}) add(changes, name);
  if (const Value step = attribute(made.self, values::OptimizerState::step); step.is(Kind::integer)) {
    std::vector<const values::Function*> functions;
    functions_of(argument(made, "lr_lambda"), functions);
    for (const values::Function* function : functions)
      for (const Int mark : marks_of_function(record, *function, step.integer())) {
        marks.of = factor;
        marks.at.push_back(mark);
      }
  }
  return marks;
}

std::optional<std::int64_t> times_made(const Record& record, const TrainingEvent& event) {
  std::int64_t times = 1;
  for (const LoopEvent* loop : event.loops) {
    if (std::ranges::any_of(
            loop->iterations, [](const Block& iteration) { return is_left_early(iteration); }))
      return std::nullopt;
    if (loop->unrolled) continue;
    const std::int64_t iterations = loop->length ? record.symbols.value(loop->length).value_or(0) : 0;
    constexpr std::int64_t most = 1'000'000'000;  // steps: a product of more is nothing that anybody means
    if (iterations <= 0 || times > most / iterations) return std::nullopt;
    times *= iterations;
  }
  return times;
}

}  // namespace stepzero::rules
