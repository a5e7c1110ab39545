#include "snapshot/why.hpp"

#include "rules/ranks/comparison.hpp"
#include "rules/shape/operator_problem.hpp"
#include "rules/shape/refusal_text.hpp"
#include "rules/source.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/evaluation.hpp"
#include "rules/training/handed.hpp"
#include "rules/training/training.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace stepzero::snapshot {

using namespace interpreter;
using rules::TrainingEvent;
using rules::TrainingRoot;
using values::Operation;

namespace {

class Why {
public:
  Why(const RankResults& ranks, std::uint32_t line, const syntax::Text& text)
      : ranks_(ranks), record_(ranks.record()), span_{text.line_start(line - 1), text.line_start(line)} {}

  std::vector<std::string> tell() {
    if (record_.out_of_budget)
      say("The run of the file was out of budget after " + std::to_string(record_.steps) + " steps.");
    for (const auto& root : record_.roots) come_to(*root);
    if (reached_.empty()) not_reached();
    for (const Root* root : reached_) ranks(*root);
    for (const TrainingRoot& training_root : rules::Training::of(record_).training_roots())
      if (std::ranges::find(reached_, training_root.root) != reached_.end() || around_line(training_root))
        training(training_root);
    for (const rules::Evaluation& each : rules::evaluations(record_, rules::Training::of(record_)))
      if (std::ranges::find(reached_, each.training_root->root) != reached_.end()) evaluation(each);
    return std::move(said_);
  }

private:
  void say(std::string sentence) {
    if (std::ranges::find(said_, sentence) == said_.end()) said_.push_back(std::move(sentence));
  }
  bool is_here(Place place) const {
    if (!record_.in_file(place)) return false;
    const syntax::Span span = record_.span(place);
    return span.begin < span_.end && span.end > span_.begin;
  }
  // Does a call on the line lead to it?
  bool led_from(const interpreter::CallSite* calls) const {
    for (; calls; calls = calls->outer)
      if (begins_here(calls->place)) return true;
    return false;
  }
  // Does what it names begin on the line?
  bool begins_here(Place place) const { return is_here(place) && record_.span(place).begin >= span_.begin; }
  std::uint32_t line_of(Place place) const {
    return place ? record_.chunk(place)
                       .module->text->position(record_.span(place).begin, syntax::Encoding::utf8)
                       .line +
            1
                 : 0;
  }
  std::string at(Place place) const {
    if (!place) return "somewhere";
    return (record_.in_file(place) ? "line " : record_.chunk(place).path + ":") +
        std::to_string(line_of(place));
  }
  std::string words(Cond condition) const {
    const std::string text = condition ? record_.symbols.text(condition) : std::string();
    if (!condition) return "?";
    const auto sharing = record_.symbols.sharing(condition);
    const char* const kinds[] = {"uniform", "divergent", "local", "unseen"};
    return "`" + (text.empty() ? "?" : text) + "` (" +
        (record_.unseen.contains(condition) ? "unseen, " : "") + kinds[static_cast<int>(sharing)] + ")";
  }

  // ------------------------------------------------------------ who comes to the line
  void come_to(const Root& root) {
    const std::size_t before = said_.size();
    std::vector<std::string> way;
    walk(root, root.block, way);
    const bool known = std::any_of(
        record_.facts.begin(), record_.facts.end(), [&](const interpreter::Fact& fact) {
          return begins_here(fact.place) && fact.root <= record_.roots.size() && fact.root > 0 &&
              record_.roots[fact.root - 1].get() == &root;
        });
    if (said_.size() == before && !known) return;
    reached_.push_back(&root);
    said_.insert(said_.begin() + static_cast<std::ptrdiff_t>(before),
        "The run of " + root.name + " comes to it" +
            (root.truncated ? ", and is broken off by the budget." : "."));
  }
  void walk(const Root& root, const interpreter::Block& block, std::vector<std::string>& way) {
    for (const Event* event : block.events) {
      const bool here = begins_here(event->place);
      switch (event->kind) {
      case EventKind::operation:
        if (here) told(static_cast<const OperationEvent&>(*event), way);
        break;
      case EventKind::exit:
        if (here) say("  a way out here" + after(way));
        break;
      case EventKind::problem:
        if (here || led_from(event->calls)) problem(static_cast<const ProblemEvent&>(*event), root, way);
        break;
      case EventKind::branch: {
        const auto& branch = static_cast<const BranchEvent&>(*event);
        if (here) say("  a branch here: " + words(branch.condition) + after(way));
        for (const bool yes : {true, false}) {
          way.push_back((yes ? "if " : "if not ") + words(branch.condition) + " (" + at(event->place) + ")");
          walk(root, yes ? branch.yes : branch.no, way);
          way.pop_back();
        }
        break;
      }
      case EventKind::loop: {
        const auto& loop = static_cast<const LoopEvent&>(*event);
        way.push_back((loop.stmt ? "in the loop of " : "in the comprehension of ") + at(event->place) +
            (loop.unrolled ? " (unrolled)" : ""));
        for (std::size_t i = 0; i < loop.iterations.size() && i < 2; ++i) walk(root, loop.iterations[i], way);
        way.pop_back();
        break;
      }
      case EventKind::call: {
        const auto& call = static_cast<const CallEvent&>(*event);
        way.push_back("in the call of " + std::string(call.function ? call.function->qualified : "?") + " (" +
            at(event->place) + ")");
        walk(root, call.body, way);
        way.pop_back();
        break;
      }
      case EventKind::attempt: {
        const auto& attempt = static_cast<const AttemptEvent&>(*event);
        way.push_back("in the try of " + at(event->place));
        walk(root, attempt.body, way);
        for (const interpreter::Block& handler : attempt.handlers) walk(root, handler, way);
        walk(root, attempt.orelse, way);
        walk(root, attempt.finally, way);
        way.pop_back();
        break;
      }
      }
    }
  }
  void problem(const ProblemEvent& event, const Root& root, const std::vector<std::string>& way) {
    say((is_here(event.place) ? "  a problem here: "
                              : "  a problem that a call here leads to, at " + at(event.place) + ": ") +
        rules::text_of(record_, event) + after(way));
    if (event.assumption) say("    when " + words(event.assumption));
    if (const auto silence = rules::silence_of(record_, event, root, rules::text_of(record_, event));
        !silence.empty())
      say("    not told: " + std::string(silence));
  }
  void told(const OperationEvent& event, const std::vector<std::string>& way) {
    const char* const unseen = event.row->operation == Operation::unseen ? " (unseen code)" : "";
    say("  " + std::string(event.row->path) + unseen +
        (event.self ? " of " + std::string(kind_of(event.self)) : "") + after(way));
  }
  static std::string_view kind_of(values::Value value) {
    switch (value.kind) {
    case values::Kind::instance:
      return value.as<values::Instance>()->symbolic ? "a presumed object" : "a known object";
    case values::Kind::unknown: return "an unknown";
    case values::Kind::choice: return "one of several";
    case values::Kind::tensor: return "a tensor";
    default: return "a value";
    }
  }
  static std::string after(const std::vector<std::string>& way) {
    std::string made;
    for (const std::string& each : way) made += (made.empty() ? ": " : ", ") + each;
    return made;
  }

  // ------------------------------------------------------------ who does not
  void not_reached() {
    say("No run leaves anything at the line.");
    const syntax::Stmt* function = nullptr;
    std::uint32_t chunk = 0;
    for (std::uint32_t i = 1; i < record_.chunks.size(); ++i) {
      const ChunkOf& each = record_.chunks[i];
      if (each.path != record_.path || span_.begin < each.offset || !each.statement()) continue;
      const auto around = rules::enclosing(
          *each.chunk->stmt, {span_.begin - each.offset, span_.begin - each.offset});
      if (around.empty() &&
          !(each.chunk->stmt->span.begin + each.offset <= span_.begin &&
              span_.begin < each.chunk->stmt->span.end + each.offset))
        continue;
      chunk = i;
      for (const auto& one : around)
        if (one.stmt->kind == syntax::StmtKind::function) function = one.stmt;
    }
    if (!chunk) return;
    Place last{};
    for (const interpreter::Fact& fact : record_.facts)
      if (record_.in_file(fact.place) && fact.place.chunk == chunk &&
          (!function ||
              (fact.place.span.begin >= function->span.begin && fact.place.span.end <= function->span.end)) &&
          record_.span(fact.place).begin < span_.begin &&
          (!last || record_.span(fact.place).begin > record_.span(last).begin))
        last = fact.place;
    say(last ? "The last known place before it is " + at(last) + "."
             : "Nothing is known of what stands before it in the function.");
    for (const auto& root : record_.roots)
      rules::visit(root->block, [&](const Event& event) {
        if (event.kind == EventKind::exit && record_.in_file(event.place) && event.place.chunk == chunk &&
            record_.span(event.place).begin < span_.begin &&
            (!last || record_.span(event.place).begin >= record_.span(last).begin))
          say("The run of " + root->name + " leaves at " + at(event.place) + ".");
        if (event.kind == EventKind::problem && record_.in_file(event.place) &&
            record_.span(event.place).begin < span_.begin)
          say("A problem at " + at(event.place) + ": " +
              rules::text_of(record_, static_cast<const ProblemEvent&>(event)));
      });
  }

  // ------------------------------------------------------------ what the ranks' comparison made of it
  void ranks(const Root& root) {
    if (!rules::may_part(record_))
      return say("Ranks: nothing in the file tells them apart, or nothing communicates.");
    const auto& compared = ranks_.comparison();
    if (compared.compared_roots.contains(&root)) say("Ranks: " + root.name + " was compared wholly.");
    for (const auto& note : compared.notes)
      if (note.first == &root) say("Ranks: " + note.second);
    for (const auto& mismatch : compared.found)
      if (is_here(mismatch.place)) say("Ranks: told here: " + mismatch.jobs + mismatch.text);
  }

  // ------------------------------------------------------------ what the model of training made of it
  bool around_line(const TrainingRoot& training_root) const {
    return std::any_of(training_root.all.begin(), training_root.all.end(),
        [&](const TrainingEvent& each) { return is_here(each.event->place); });
  }
  void training(const TrainingRoot& training_root) {
    const std::string of = "Training in " + training_root.root->name + ": ";
    if (training_root.root->truncated) say(of + "the run is broken off by the budget.");
    if (!rules::trains_itself(training_root))
      say(of + "a framework runs the loop.");
    else if (training_root.handed_over)
      say(of + "a framework takes a part.");
    if (rules::by_hand(training_root, nullptr)) say(of + "gradients are written by hand.");
    say(of + std::to_string(training_root.optimizers.size()) + " optimizers, of which " +
        std::to_string(training_root.presumed.size()) + " by their use.");
    for (const values::Object* optimizer : training_root.optimizers)
      for (const TrainingEvent& each : training_root.all)
        if (each.event->row->operation == Operation::unseen && rules::is_handed(*each.event, optimizer))
          say(of + "unseen code gets an optimizer at " + at(each.event->place) + ".");
    for (const TrainingEvent& each : training_root.all) {
      if (each.event->row->operation != Operation::backward) continue;
      std::string fed;
      for (const values::Object* optimizer : training_root.optimizers) {
        const auto answer = rules::feeds(training_root, *each.event, rules::as_value(optimizer));
        fed += std::string(fed.empty() ? "" : ", ") +
            (answer == symbolic::Answer::yes         ? "feeds"
                    : answer == symbolic::Answer::no ? "does not feed"
                                                     : "may feed") +
            " an optimizer";
      }
      say(of + "the backward at " + at(each.event->place) + " stands in " +
          std::to_string(each.loops.size()) + " loops" + (fed.empty() ? "" : " and " + fed) + ".");
    }
  }

  void evaluation(const rules::Evaluation& evaluation) {
    const rules::OperationEvent& forward = *evaluation.forward->event;
    std::string mode = "nothing sets its mode before";
    if (evaluation.mode)
      mode = "its mode was last set at " + at(evaluation.mode->place) +
          (evaluation.evaluates ? ", to evaluation" : ", to training");
    say("Evaluation at " + at(forward.place) + " of " +
        (evaluation.is_seen() ? "a model" : "something unseen") + " in the loop of " +
        at(evaluation.loop->place) + ": " + mode + ".");
  }

  const RankResults& ranks_;
  const Record& record_;
  syntax::Span span_;
  std::vector<const Root*> reached_;
  std::vector<std::string> said_;
};

}  // namespace

std::vector<std::string> why_silent(const RankResults& ranks, std::uint32_t line) {
  const Record& record = ranks.record();
  const auto own = std::find_if(record.chunks.begin(), record.chunks.end(),
      [&](const ChunkOf& each) { return each.path == record.path && each.module; });
  if (line == 0 || own == record.chunks.end()) return {};
  return Why(ranks, line, *own->module->text).tell();
}

}  // namespace stepzero::snapshot
