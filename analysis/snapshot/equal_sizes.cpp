#include "snapshot/equal_sizes.hpp"

#include "rules/report.hpp"
#include "rules/shape/refusal_text.hpp"
#include "syntax/walk.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

namespace stepzero::snapshot {

namespace {

using interpreter::EventKind;
using interpreter::OperationEvent;
using interpreter::OtherNumbers;
using interpreter::ProblemEvent;
using interpreter::Record;
using values::Kind;
using values::TensorState;

constexpr std::uint64_t longest_run = 60'000;   // steps of a program that is run again
constexpr std::uint64_t most_steps = 200'000;   // of all further runs together
constexpr std::int64_t least_size = 4;          // smaller numbers mean many things
constexpr std::int64_t largest_size = 1 << 16;  // greater ones are no batches
constexpr std::size_t most_alike = 10;          // numbers of the text that are the same
constexpr std::size_t most_others = 4;          // that may have to change with one

// A number in the text.
struct Literal {
  const syntax::IntegerExpr* expr = nullptr;
  rules::Location where;
};

// What a number of the text becomes in the run.
struct Uses {
  bool batch = false;      // samples of a batch, of a loader or of data that the program makes
  bool length = false;     // another dimension of such data than the last
  bool last = false;       // the last dimension of such data
  bool parameter = false;  // a size of something that is trained
  // Height and width of images, which no batch is to be as large as.
  bool is_side() const { return length && last && !batch; }
};

// What the run computes from no tensor: data that the program makes up.
bool is_made_up(const TensorState& state) {
  return state.made &&
      std::ranges::all_of(state.made->states, [](const TensorState* each) { return each == nullptr; }) &&
      state.made->listed.empty() && !state.made->self;
}

// Data that the program makes up and a layer is given: what is not given to one may be a matrix of its own.
std::unordered_set<const TensorState*> made_up_samples(const Record& record) {
  constexpr int most_steps_between = 6;     // operations from the data to the layer
  constexpr std::size_t most_tensors = 64;  // that one layer's input is followed back over
  std::unordered_set<const TensorState*> found;
  for (const interpreter::Fact& fact : record.facts) {
    if (!fact.tensor || !fact.tensor->made || !fact.tensor->made->self.is(Kind::instance)) continue;
    std::vector<std::pair<const TensorState*, int>> left;
    const auto add_all = [&](const TensorState& of, int depth) {
      for (const TensorState* state : of.made->states)
        if (state && left.size() < most_tensors) left.push_back({state, depth});
    };
    add_all(*fact.tensor, 0);
    for (std::size_t i = 0; i < left.size(); ++i) {
      const auto [state, depth] = left[i];
      if (is_made_up(*state))
        found.insert(state);
      else if (state->made && depth + 1 < most_steps_between)
        add_all(*state, depth + 1);
    }
  }
  return found;
}

// `x - y.T`: whoever combines a matrix with a transposed one has a square matrix in mind.
bool is_of_square(const ProblemEvent& problem) {
  const auto turned = [](const TensorState* a, const TensorState* b) {
    return a && b && a->shape.dims.size() == 2 && b->shape.dims.size() == 2 &&
        a->shape.dims[0].size == b->shape.dims[1].size && a->shape.dims[1].size == b->shape.dims[0].size;
  };
  return problem.problem == values::ProblemKind::broadcast && problem.states.size() >= 2 &&
      turned(problem.states[0], problem.states[1]);
}

class Search {
public:
  Search(
      const std::vector<const Record*>& records, const program::Sources& sources, const RunWithNumbers& run)
      : records_(records), sources_(sources), run_(run) {}

  std::vector<EqualByChance> search() {
    for (const Record* record : records_) {
      if (record->out_of_budget || record->steps > longest_run) return {};
      collect_problems(*record);
    }
    std::set<std::int64_t> sizes;
    for (const Record* record : records_) collect_sizes(*record, sizes);
    if (sizes.empty()) return {};
    for (const Record* record : records_) {
      collect_computed(*record);
      for (const TensorState* sample : made_up_samples(*record))
        samples_.insert(at(*record, sample->made->born));
    }
    collect_literals();
    by_defaults_ = by_defaults_ || records_.size() > 1;
    std::vector<EqualByChance> found;
    for (const std::int64_t size : sizes)
      if (const auto group = literals_.find(size);
          group != literals_.end() && group->second.size() > 1 && group->second.size() <= most_alike)
        if (auto one = judge(size, group->second)) found.push_back(std::move(*one));
    return found;
  }

private:
  enum class Outcome : std::uint8_t {
    right,    // nothing fails
    clash,    // the other number meets the one as it is written
    unknown,  // something else fails, or the run does not end
  };
  struct Trial {
    Outcome outcome = Outcome::unknown;
    std::shared_ptr<const Run> run;
    const ProblemEvent* problem = nullptr;  // the first that fails; else, the first of another kind
  };
  using Chosen = std::vector<const Literal*>;

  // ------------------------------------------------------------ what there is
  static std::pair<std::string, std::uint32_t> at(const Record& record, values::Place place) {
    return {record.chunk(place).path, record.span(place).begin};
  }
  void collect_problems(const Record& record) {
    for (const auto& event : record.events)
      if (event->kind == EventKind::problem) known_.insert(at(record, event->place));
  }

  // Sizes of batches, and of data that the program makes.
  void collect_sizes(const Record& record, std::set<std::int64_t>& sizes) {
    const auto add = [&](symbolic::Int number) {
      if (!number) return;
      auto size = record.symbols.value(number);
      if (const auto* info = size ? nullptr : record.symbols.atom_info(number); info && info->usual) {
        size = *info->usual;
        by_defaults_ = true;
      }
      if (size && least_size <= *size && *size <= largest_size) sizes.insert(*size);
    };
    each_loader(record, [&](values::Value batch) {
      add(batch.is(Kind::integer)       ? batch.integer()
              : batch.is(Kind::unknown) ? batch.as<values::Unknown>()->integer
                                        : nullptr);
    });
    for (const interpreter::Fact& fact : record.facts) {
      if (!fact.tensor || !is_made_up(*fact.tensor) || !fact.tensor->shape.ndim_known) continue;
      const auto& dims = fact.tensor->shape.dims;
      for (std::size_t i = 0; i + 1 < dims.size(); ++i) add(dims[i].size);
    }
  }
  static void each_loader(const Record& record, const std::function<void(values::Value batch)>& each) {
    for (const auto& event : record.events) {
      if (event->kind != EventKind::operation) continue;
      const auto& operation = static_cast<const OperationEvent&>(*event);
      if (operation.row->operation != values::Operation::loader_made ||
          operation.row->kind != values::RowKind::class_)
        continue;
      each(rules::argument(operation, "batch_size"));
    }
  }

  // Sizes that something has as it is written, whether they stand in the text or were computed: 2 * dim.
  void collect_computed(const Record& record) {
    const auto add = [&](const TensorState& state) {
      for (const values::Dim& dim : state.shape.dims)
        if (const auto size = dim.size ? record.symbols.value(dim.size) : std::nullopt)
          computed_.insert(*size);
    };
    for (const interpreter::Fact& fact : record.facts) {
      if (fact.tensor) add(*fact.tensor);
      if (!fact.value.is(Kind::instance)) continue;
      for (const auto& [name, slot] : fact.value.as<values::Instance>()->attributes.entries())
        if (slot->value.is(Kind::tensor)) add(*slot->value.as<values::Tensor>()->now());
    }
  }

  // The numbers of the program's own files.
  void collect_literals() {
    std::set<std::string> paths{records_.front()->path};
    for (const Record* record : records_)
      for (const interpreter::ChunkOf& chunk : record->chunks)
        if (chunk.module && is_own(chunk.path)) paths.insert(chunk.path);
    for (const std::string& path : paths) {
      const auto module = sources_.module(path);
      if (!module) continue;
      for (const syntax::Item& item : module->items) {
        if (!item.chunk->stmt) continue;
        const auto note = [&](const syntax::Expr& expr) {
          if (expr.kind != syntax::ExprKind::integer) return;
          const auto& number = syntax::as<syntax::IntegerExpr>(expr);
          if (!number.fits || number.value < least_size) return;
          literals_[number.value].push_back(
              {&number, {path, {expr.span.begin + item.offset, expr.span.end + item.offset}}});
        };
        syntax::for_each_expression(*item.chunk->stmt, note);
        // Defaults of parameters are evaluated where the function is made.
        syntax::for_each_statement(*item.chunk->stmt, [&](const syntax::Stmt& stmt) {
          if (stmt.kind != syntax::StmtKind::function) return;
          for (const syntax::Parameter& parameter : syntax::as<syntax::FunctionStmt>(stmt).parameters->list)
            if (parameter.default_value) syntax::for_each_expression(*parameter.default_value, note);
        });
      }
    }
  }
  bool is_own(const std::string& path) const {
    return path == records_.front()->path ||
        std::ranges::any_of(
            sources_.roots(), [&](const std::string& root) { return path.starts_with(root + "/"); });
  }

  // ------------------------------------------------------------ runs
  Trial run(const Chosen& chosen, std::int64_t written, std::int64_t other) {
    OtherNumbers numbers;
    for (const Literal* each : chosen) numbers.emplace(each->expr, other);
    return judged(numbers, written, other);
  }
  Trial judged(const OtherNumbers& numbers, std::int64_t written, std::int64_t other) {
    Trial trial;
    if (steps_ >= most_steps) return trial;
    trial.run = run_(numbers, by_defaults_, std::min(longest_run, most_steps - steps_));
    const Record& record = trial.run->record;
    steps_ += record.steps;
    if (record.cancelled || record.out_of_budget) return trial;
    for (const auto& event : record.events) {
      if (event->kind != EventKind::problem || known_.contains(at(record, event->place))) continue;
      const auto& problem = static_cast<const ProblemEvent&>(*event);
      if (problem.problem >= values::ProblemKind::first_without_failure) {
        if (!trial.problem) trial.problem = &problem;
        continue;
      }
      const bool meets = says(record, problem, other) && says(record, problem, written);
      trial.problem = &problem;
      trial.outcome = meets && !is_of_square(problem) && !problem.guarded && !problem.assumption &&
              !problem.of_two_choices
          ? Outcome::clash
          : Outcome::unknown;
      return trial;
    }
    trial.outcome = Outcome::right;
    return trial;
  }
  // Has one of the tensors that the problem is about the size?
  static bool has_size(const Record& record, const ProblemEvent& problem, std::int64_t size) {
    const auto is_it = [&](const values::Dim& dim) {
      return dim.size && record.symbols.value(dim.size) == size;
    };
    if (problem.left.size || problem.right.size) return is_it(problem.left) || is_it(problem.right);
    return std::ranges::any_of(problem.states,
        [&](const TensorState* state) { return state && std::ranges::any_of(state->shape.dims, is_it); });
  }
  // Is the size one of those that the problem is about?
  static bool says(const Record& record, const ProblemEvent& problem, std::int64_t size) {
    if (has_size(record, problem, size)) return true;
    if (problem.left.size || problem.right.size) return false;
    const std::string number = std::to_string(size), text = rules::text_of(record, problem);
    const auto is_digit = [&](std::size_t at) {
      return at < text.size() && '0' <= text[at] && text[at] <= '9';
    };
    for (std::size_t at = 0; (at = text.find(number, at)) != std::string::npos; ++at)
      if ((at == 0 || !is_digit(at - 1)) && !is_digit(at + number.size())) return true;
    return false;
  }
  // Numbers that the program does not say and nothing in it has, by which its own are told apart; multiples,
  // as sizes are divided.
  std::vector<std::int64_t> others_for(std::int64_t written, std::size_t count) const {
    std::vector<std::int64_t> found;
    for (std::int64_t factor = 2; found.size() < count; ++factor)
      if (!literals_.contains(written * factor) && !computed_.contains(written * factor))
        found.push_back(written * factor);
    return found;
  }

  Uses uses_of(const Record& record, std::int64_t size) const {
    Uses uses;
    const auto is_it = [&](const values::Dim& dim) {
      return dim.size && record.symbols.value(dim.size) == size;
    };
    each_loader(
        record, [&](values::Value batch) { uses.batch = uses.batch || record.number(batch) == size; });
    const auto look_at_parameter = [&](const TensorState& state) {
      uses.parameter = uses.parameter || std::ranges::any_of(state.shape.dims, is_it);
    };
    for (const interpreter::Fact& fact : record.facts) {
      if (fact.value.is(Kind::instance) && fact.value.as<values::Instance>()->native) {
        for (const auto& [name, slot] : fact.value.as<values::Instance>()->attributes.entries())
          if (slot->value.is(Kind::tensor) &&
              slot->value.as<values::Tensor>()->role == values::TensorRole::parameter)
            look_at_parameter(*slot->value.as<values::Tensor>()->now());
      }
      if (!fact.tensor || !fact.tensor->shape.ndim_known) continue;
      if (fact.value.is(Kind::tensor) &&
          fact.value.as<values::Tensor>()->role == values::TensorRole::parameter) {
        look_at_parameter(*fact.tensor);
        continue;
      }
      if (!is_made_up(*fact.tensor)) continue;
      const auto& dims = fact.tensor->shape.dims;
      for (std::size_t i = 0; i < dims.size(); ++i) {
        if (!is_it(dims[i]) || dims.size() < 2) continue;
        if (i + 1 == dims.size())
          uses.last = true;
        else if (samples_.contains(at(record, fact.tensor->made->born)))
          (i == 0 ? uses.batch : uses.length) = true;
      }
    }
    return uses;
  }

  // ------------------------------------------------------------ the question
  std::optional<EqualByChance> judge(std::int64_t size, const std::vector<Literal>& group) {
    if (by_defaults_ && records_.size() < 2 && !std::exchange(began_, true))
      if (Trial as_written = judged({}, size, size); as_written.run) {
        collect_problems(as_written.run->record);
        if (as_written.problem && as_written.problem->problem == values::ProblemKind::suspicious_broadcast)
          return EqualByChance{as_written.run, as_written.problem, {}, size, size, true, false};
      }
    const std::vector<std::int64_t> others = others_for(size, group.size());
    OtherNumbers apart;
    for (std::size_t i = 0; i < group.size(); ++i) apart.emplace(group[i].expr, others[i]);
    const Trial all = judged(apart, size, others.front());
    // Nothing rests on any two of them being equal.
    if (!all.run || all.outcome == Outcome::right) return std::nullopt;
    // Half of them, so that as many samples make whole batches.
    const bool has_half = size % 2 == 0 && size / 2 >= least_size && !literals_.contains(size / 2) &&
        !computed_.contains(size / 2);
    const std::int64_t other = has_half ? size / 2 : others.front();
    std::vector<Uses> uses;
    uses.reserve(others.size());
    for (const std::int64_t each : others) uses.push_back(uses_of(all.run->record, each));
    for (std::size_t i = 0; i < group.size(); ++i) {
      const bool is_batch = uses[i].batch;
      if ((!is_batch && !uses[i].length) || uses[i].last || uses[i].parameter) continue;
      if (const auto failed = always_fails(i, size, other, group, uses))
        return EqualByChance{
            failed->run, failed->problem, group[i].where, size, other, by_defaults_, is_batch};
    }
    return std::nullopt;
  }

  // Is there no choice of the numbers that are the same which, changed together with the one, leaves a
  // program that is right? A batch is no size of a parameter, nor the side of an image; the length of samples
  // may be, and is told apart from their last dimension. The failure that is told: where as many as may be
  // have changed.
  std::optional<Trial> always_fails(std::size_t seed, std::int64_t size, std::int64_t other,
      const std::vector<Literal>& group, const std::vector<Uses>& uses) {
    const bool is_batch = uses[seed].batch;
    std::vector<std::size_t> may_change;
    for (std::size_t i = 0; i < group.size(); ++i)
      if (i != seed && !(is_batch && (uses[i].parameter || uses[i].is_side()))) may_change.push_back(i);
    if (may_change.size() > most_others) return std::nullopt;
    std::optional<Trial> told;
    Chosen changed;  // where it is told
    for (std::size_t bits = std::size_t{1} << may_change.size(); bits-- > 0;) {
      Chosen chosen{&group[seed]};
      bool parameter = false, last = false, all_alike = true;
      for (std::size_t i = 0; i < may_change.size(); ++i) {
        const Uses& use = uses[may_change[i]];
        const bool changes = (bits >> i) & 1;
        if (changes) {
          chosen.push_back(&group[may_change[i]]);
          parameter = parameter || use.parameter;
          last = last || use.last;
        } else if (is_batch ? use.batch : use.length) {
          all_alike = false;
        }
      }
      if (parameter && last) continue;  // not apart any more
      Trial trial = run(chosen, size, other);
      if (trial.outcome != Outcome::clash) return std::nullopt;
      if (told && !all_alike) continue;
      told = std::move(trial);
      changed = std::move(chosen);
    }
    // It meets what the others say, and nothing else that happens to be as many: where they change instead,
    // it fails there, too.
    Chosen rest;
    for (const Literal& each : group)
      if (std::ranges::find(changed, &each) == changed.end()) rest.push_back(&each);
    if (!told || rest.empty()) return std::nullopt;
    const Trial instead = run(rest, size, other);
    const bool is_same = instead.outcome == Outcome::clash &&
        instead.problem->problem == told->problem->problem &&
        at(instead.run->record, instead.problem->place) == at(told->run->record, told->problem->place) &&
        // What fails by a value, a class that is too great, is another failure.
        (has_size(instead.run->record, *instead.problem, other) ||
            !has_size(told->run->record, *told->problem, other));
    return is_same ? std::move(told) : std::nullopt;
  }

  const std::vector<const Record*>& records_;
  const program::Sources& sources_;
  const RunWithNumbers& run_;
  std::set<std::pair<std::string, std::uint32_t>> known_;  // where something fails as it is written
  std::map<std::int64_t, std::vector<Literal>> literals_;
  std::unordered_set<std::int64_t> computed_;
  // Where data is made up that a layer is given: after what fails in a further run no layer is given any.
  std::set<std::pair<std::string, std::uint32_t>> samples_;
  bool by_defaults_ = false;  // the runs are those where the command line gives nothing
  bool began_ = false;        // what fails by the defaults is known
  std::uint64_t steps_ = 0;
};

}  // namespace

std::vector<EqualByChance> equal_by_chance(
    const std::vector<const Record*>& records, const program::Sources& sources, const RunWithNumbers& run) {
  return Search(records, sources, run).search();
}

void tell_by_chance(const EqualByChance& found, rules::Finding& finding) {
  finding.severity = rules::Severity::warning;
  // What mends one of the places that the sizes meet at leaves the others.
  finding.fixes.clear();
  if (found.as_written == found.other) return;
  const std::string written = std::to_string(found.as_written), other = std::to_string(found.other);
  finding.message = "Two sizes are set separately here and only happen to be equal. With a " +
      std::string(found.is_batch ? "batch" : "length") + " of " + other + " instead of " + written +
      " this fails: " + finding.message;
  finding.related.insert(
      finding.related.begin(), {found.number, "the " + written + " that is " + other + " then"});
}

}  // namespace stepzero::snapshot
