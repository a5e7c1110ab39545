#include "rules/training/windows.hpp"

#include "rules/source.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using symbolic::Int;
using values::Cond;
using values::Kind;
using values::Operation;

namespace {

constexpr std::int64_t looked_at = 64;  // iterations of a loop that stands for any number of them
constexpr std::int64_t stand_in = 4;    // for a size that is not known
constexpr std::int64_t out_of_reach = 1'000'003;

struct Pattern {
  std::int64_t first = 0, period = 0;
  bool period_known = false;
};

// The iterations in which the condition holds, if they come at equal distances.
std::optional<Pattern> pattern_under(const Record& record, Cond condition, Int counter, std::int64_t from,
    std::vector<symbolic::Assignment> others) {
  Pattern found;
  std::int64_t last = -1;
  others.push_back({counter, 0});
  for (std::int64_t iteration = 0; iteration < looked_at; ++iteration) {
    others.back().value = from + iteration;
    const Answer holds = record.symbols.evaluate(condition, others);
    if (holds == Answer::unknown) return std::nullopt;
    if (holds == Answer::no) continue;
    if (last < 0)
      found.first = iteration;
    else if (found.period == 0)
      found.period = iteration - last;
    else if (found.period != iteration - last)
      return std::nullopt;
    last = iteration;
  }
  return found.period > 1 ? std::optional(found) : std::nullopt;
}

// What the loop counts with, and where it begins; null if it does not count, or that is not known.
struct Counter {
  Int atom = nullptr;
  std::int64_t from = 0;
};
Counter counter_of(const Record& record, const LoopEvent& loop) {
  if (!loop.stmt || loop.stmt->kind != syntax::StmtKind::for_) return {};
  const syntax::Expr* target = syntax::as<syntax::ForStmt>(*loop.stmt).target;
  if (target->kind == syntax::ExprKind::tuple && !syntax::as<syntax::TupleExpr>(*target).elements.empty())
    target = syntax::as<syntax::TupleExpr>(*target).elements.front();
  Int counted = nullptr;
  for (const Fact& fact : record.facts)
    if (fact.role == Fact::Role::assignment && fact.place.chunk == loop.place.chunk &&
        fact.place.span == target->span && fact.value.is(Kind::integer))
      counted = fact.value.integer();
  if (!counted) return {};
  Counter found;
  std::size_t count = 0;
  record.symbols.atoms(counted, [&](Int atom) {
    ++count;
    found.atom = atom;
  });
  const auto lower = found.atom ? record.symbols.lower(found.atom) : std::nullopt;
  if (count != 1 || !lower) return {};
  found.from = *lower;
  return found;
}

std::optional<Pattern> pattern_of(
    const Record& record, Cond condition, const Counter& counter, bool& counted) {
  std::vector<Int> atoms;
  bool opaque = false;
  record.symbols.parts(
      condition,
      [&](Int atom) {
        if (std::find(atoms.begin(), atoms.end(), atom) == atoms.end()) atoms.push_back(atom);
      },
      [&](Cond) { opaque = true; });
  if (opaque || atoms.empty() || atoms.size() > 3) return std::nullopt;
  for (const Int index : atoms) {
    if (counter.atom && index != counter.atom) continue;
    counted = counter.atom != nullptr;
    // The size is written out, or one of the others; what is left is an end that is not reached.
    for (std::size_t size = 0; size <= atoms.size(); ++size) {
      if (size < atoms.size() && atoms[size] == index) continue;
      std::vector<symbolic::Assignment> others;
      for (std::size_t i = 0; i < atoms.size(); ++i)
        if (atoms[i] != index) others.push_back({atoms[i], i == size ? stand_in : out_of_reach});
      auto found = pattern_under(
          record, condition, index, counter.atom ? counter.from : 0, std::move(others));
      if (!found || (size < atoms.size() && found->period != stand_in)) continue;
      found->period_known = size == atoms.size();
      return found;
    }
  }
  return std::nullopt;
}

// The branch in which the one stands and the other does not, and its side.
const Turn* gate_between(const TrainingEvent& inner, const TrainingEvent& outer) {
  for (const Turn& turn : inner.turns)
    if (std::none_of(outer.turns.begin(), outer.turns.end(),
            [&](const Turn& shared) { return shared.branch == turn.branch; }))
      return &turn;
  return nullptr;
}

const syntax::IfStmt* if_around(const Record& record, const OperationEvent& event, const LoopEvent& loop) {
  if (!record.in_file(event.place) || event.place.chunk != loop.place.chunk || !loop.stmt) return nullptr;
  const auto path = enclosing(*record.chunk(event.place).chunk->stmt, event.place.span);
  for (auto it = path.rbegin(); it != path.rend() && it->stmt != loop.stmt; ++it)
    if (it->stmt->kind == syntax::StmtKind::if_) return &syntax::as<syntax::IfStmt>(*it->stmt);
  return nullptr;
}

Answer clears(const TrainingRoot& training_root, const OperationEvent& event, Value optimizer) {
  if (event.row->operation != Operation::zero_grad) return Answer::no;
  if (event.self.object() == optimizer.object()) return Answer::yes;
  const Value theirs = training_root.optimizers.contains(event.self.object())
      ? attribute(event.self, values::OptimizerState::parameters)
      : event.self;
  return shares_parameters(training_root, theirs, optimizer);
}

// All that one loop does to one optimizer.
struct Iterations {
  std::vector<const TrainingEvent*> backwards, steps, clearings;
};

class Look {
public:
  Look(const Record& record, const TrainingRoot& training_root, const LoopEvent& loop, Value optimizer,
      std::vector<Window>& found)
      : record_(record), training_root_(training_root), loop_(loop), found_(found) {
    window_.training_root = &training_root;
    window_.loop = &loop;
    window_.optimizer = optimizer;
    for (const TrainingEvent& each : training_root.all) {
      // What clears, or may, in some way that is not followed.
      if (each.event->row->operation == Operation::zero_grad && each.in(&loop) &&
          (each.loops.back() != &loop || clears(training_root, *each.event, optimizer) == Answer::unknown) &&
          clears(training_root, *each.event, optimizer) != Answer::no)
        follows_ = false;
      if (each.loops.empty() || each.loops.back() != &loop || each.in_handler) continue;
      if (each.event->row->operation == Operation::backward &&
          feeds(training_root, *each.event, optimizer) == Answer::yes)
        all_.backwards.push_back(&each);
      else if (stepped_optimizer(*each.event).object() == optimizer.object())
        all_.steps.push_back(&each);
      else if (clears(training_root, *each.event, optimizer) == Answer::yes)
        all_.clearings.push_back(&each);
    }
  }

  void run() {
    if (all_.backwards.empty() || all_.steps.empty() || !follows_) return;
    window_.backward = all_.backwards.front();
    window_.step = all_.steps.front();
    window_.clear = all_.clearings.empty() ? nullptr : all_.clearings.front();
    // A backward of its own before some of the steps, after gradients that are cleared: the others are meant
    // for another optimizer.
    for (const TrainingEvent* each : all_.backwards)
      if (gate_between(*each, *window_.backward)) return;
    window_.clears_always = clears_in_each_iteration();
    if (throws_away() && !window_.clears_always) return;
    if (loop_.unrolled)
      each_iteration();
    else
      any_iteration();
  }

private:
  // Are gradients cleared that were never stepped?
  bool throws_away() const {
    bool computed = false;
    for (const TrainingEvent& each : training_root_.all) {
      const auto is_one_of = [&](const std::vector<const TrainingEvent*>& all) {
        return std::find(all.begin(), all.end(), &each) != all.end();
      };
      if (is_one_of(all_.backwards))
        computed = true;
      else if (is_one_of(all_.steps))
        computed = false;
      else if (is_one_of(all_.clearings) && computed)
        return true;
    }
    return false;
  }

  // Are gradients cleared once in each iteration, in front of its backward or after its step? After a step
  // they may be cleared once more.
  bool clears_in_each_iteration() const {
    if (all_.clearings.size() < all_.backwards.size()) return false;
    bool computed = false;  // in this iteration, and not yet stepped
    const auto is_one_of = [](const std::vector<const TrainingEvent*>& all, const TrainingEvent& each) {
      return std::find(all.begin(), all.end(), &each) != all.end();
    };
    std::size_t clearings = 0, backwards = 0;
    for (const TrainingEvent& each : training_root_.all) {
      if (is_one_of(all_.backwards, each)) {
        computed = true;
        if (++backwards > clearings + 1) return false;
      } else if (is_one_of(all_.clearings, each)) {
        const bool again = !computed && backwards > 0 &&
            ((loop_.unrolled && clearings > backwards) || gate_between(each, *window_.backward));
        if (again) continue;
        if (gate_between(each, *window_.backward) || ++clearings > backwards + 1) return false;
        computed = false;
      } else if (is_one_of(all_.steps, each)) {
        // What is cleared after its backward is never stepped: loop/zero-grad-order tells of it.
        if (!computed) return false;
        computed = false;
      }
    }
    return loop_.unrolled ? clearings == backwards || clearings == backwards + 1 : clearings == 1;
  }

  // Which of the iterations hold one of these, without condition? Nothing if it is not known of all.
  std::optional<std::vector<std::size_t>> iterations_of(const std::vector<const TrainingEvent*>& all) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < loop_.iterations.size(); ++i) {
      bool any = false, sure = true;
      visit(loop_.iterations[i], [&](const Event& event) {
        for (const TrainingEvent* each : all)
          if (each->event == &event) {
            any = true;
            sure = sure && !gate_between(*each, *window_.backward);
          }
      });
      if (!sure) return std::nullopt;
      if (any) found.push_back(i);
    }
    return found;
  }

  void each_iteration() {
    const auto backwards = iterations_of(all_.backwards), steps = iterations_of(all_.steps),
               clearings = iterations_of(all_.clearings);
    const std::size_t count = loop_.iterations.size();
    if (!backwards || backwards->size() != count || count < 2) return;
    if (!steps) return each_iteration_by_gate();
    if (!clearings) return;
    window_.steps_always = steps->size() == count;
    const auto& some = window_.steps_always ? *clearings : *steps;
    if (some.empty() || some.size() * 2 > count ||
        (!window_.steps_always && !window_.clears_always && clearings->size() > steps->size() + 1))
      return;
    if (window_.steps_always) window_.clears_always = false;
    const TrainingEvent* made = window_.steps_always ? window_.clear : window_.step;
    window_.gate = if_around(record_, *made->event, loop_);
    // One of them shows no distance: only a remainder says that there are to be more.
    if (some.size() == 1 && some.front() + 1 != count && !remainder_of(window_)) return;
    std::size_t size = some.size() > 1 ? some[1] - some[0] : some.front() > 0 ? some.front() + 1 : count;
    for (std::size_t i = 1; i + 1 < some.size(); ++i)
      if (some[i] - some[i - 1] != size) return;
    // The last of them may come early, where the loop ends.
    if (some.size() > 1 && some.back() - some[some.size() - 2] != size && some.back() + 1 != count) return;
    if (size < 2) return;
    window_.size = static_cast<std::int64_t>(size);
    window_.size_known = true;
    window_.first = static_cast<std::int64_t>(some.front() + 1);
    window_.iterations = static_cast<std::int64_t>(count);
    window_.left = static_cast<std::int64_t>(count - 1 - some.back());
    finish();
  }

  // Round by iteration, and how many make a step depends on what the program does not say: `if (i + 1) %
  // args.accumulate == 0:` around the step of each.
  void each_iteration_by_gate() {
    window_.gate = if_around(record_, *window_.step->event, loop_);
    if (!remainder_of(window_) || all_.steps.size() != loop_.iterations.size()) return;
    const auto stands_there = [&](const TrainingEvent* each) {
      return if_around(record_, *each->event, loop_) == window_.gate;
    };
    if (!std::all_of(all_.steps.begin(), all_.steps.end(), stands_there)) return;
    // The last iteration may be one for certain.
    for (std::size_t i = 0; i + 1 < all_.steps.size(); ++i)
      if (!gate_between(*all_.steps[i], *window_.backward)) return;
    if (!window_.clears_always && !std::all_of(all_.clearings.begin(), all_.clearings.end(), stands_there))
      return;
    finish();
  }

  void any_iteration() {
    const Turn* gate = gate_between(*window_.step, *window_.backward);
    window_.steps_always = !gate;
    const auto& some = gate ? all_.steps : all_.clearings;
    if (some.empty() || (!gate && all_.steps.size() > 1)) return;
    std::optional<Pattern> pattern;
    bool counted = false;
    for (const TrainingEvent* each : some) {
      const Turn* own = gate_between(*each, *window_.backward);
      if (!own || (gate && own->branch != gate->branch)) return;
      gate = own;
    }
    for (const TrainingEvent* each : all_.clearings)
      if (!gate_between(*each, *window_.backward) && !window_.clears_always) return;
    const Cond condition = gate->yes ? gate->branch->condition
                                     : record_.symbols.logical_not(gate->branch->condition);
    pattern = pattern_of(record_, condition, counter_of(record_, loop_), counted);
    if (!pattern) return;
    window_.size = pattern->period;
    window_.size_known = pattern->period_known;
    if (counted) window_.first = pattern->first + 1;
    const auto length = loop_.length ? record_.symbols.value(loop_.length) : std::nullopt;
    if (counted && length && pattern->period_known && *length > pattern->first) {
      window_.iterations = *length;
      window_.left = (*length - 1 - pattern->first) % pattern->period;
    }
    finish();
  }

  void finish() {
    const TrainingEvent* made = window_.steps_always ? window_.clear : window_.step;
    window_.gate = if_around(record_, *made->event, loop_);
    found_.push_back(window_);
  }

  const Record& record_;
  const TrainingRoot& training_root_;
  const LoopEvent& loop_;
  std::vector<Window>& found_;
  Iterations all_;
  bool follows_ = true;
  Window window_;
};

}  // namespace

std::vector<Window> windows(const Record& record, const Training& training) {
  std::vector<Window> found;
  for (const TrainingRoot& training_root : training.training_roots()) {
    if (training_root.handed_over || training_root.root->truncated) continue;
    std::set<std::pair<const LoopEvent*, const Object*>> looked;
    for (const TrainingEvent& step : training_root.all) {
      const Value optimizer = stepped_optimizer(*step.event);
      if (!optimizer.is(Kind::instance) || step.loops.empty() ||
          !looked.insert({step.loops.back(), optimizer.object()}).second)
        continue;
      if (escapes(record, training_root, optimizer.object(), step.loops.back())) continue;
      Look(record, training_root, *step.loops.back(), optimizer, found).run();
    }
  }
  return found;
}

const syntax::BinaryExpr* remainder_of(const Window& window) {
  const syntax::Expr* test = window.gate ? window.gate->test : nullptr;
  while (test && test->kind == syntax::ExprKind::boolean_op)
    test = syntax::as<syntax::BooleanOpExpr>(*test).operands.front();
  if (!test || test->kind != syntax::ExprKind::compare) return nullptr;
  const syntax::Expr* left = syntax::as<syntax::CompareExpr>(*test).left;
  if (left->kind != syntax::ExprKind::binary ||
      syntax::as<syntax::BinaryExpr>(*left).op != syntax::BinaryOp::mod)
    return nullptr;
  return &syntax::as<syntax::BinaryExpr>(*left);
}

std::string size_text(const Record& record, const Window& window) {
  if (const auto* remainder = remainder_of(window))
    return std::string(record.text({window.loop->place.chunk, remainder->right->span}));
  return window.size_known ? std::to_string(window.size) : "n";
}
std::string size_words(const Record& record, const Window& window) {
  const std::string text = size_text(record, window);
  const bool is_number = text.find_first_not_of("0123456789") == std::string::npos;
  return is_number || text == "n" ? text : values::code(text);
}

}  // namespace stepzero::rules
