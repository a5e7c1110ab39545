// loop/same-network: a network is loaded from its own state under another name, as a target network is that
// was assigned and not copied.
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <map>

namespace stepzero::rules::loop::same_network {

using namespace interpreter;
using values::code;
using values::Kind;
using values::Operation;

namespace {

void check(const Record& record, Report& report) {
  std::map<const Object*, const OperationEvent*> states;
  visit_operations(record, with_operation(Operation::state_taken), [&](const OperationEvent& taken) {
    if (taken.result.is(Kind::dict) && taken.self.is(Kind::instance))
      states.emplace(taken.result.object(), &taken);
  });
  if (states.empty()) return;
  Once once;
  visit_operations(record, with_operation(Operation::state_put), [&](const OperationEvent& put) {
    const auto taken = put.arguments.empty() || !put.self.is(Kind::instance)
        ? states.end()
        : states.find(put.arguments[0].object());
    // What another function took and kept, the best so far, is loaded back into the network that it is of.
    if (taken == states.end() || taken->second->self.object() != put.self.object() ||
        taken->second->calls != put.calls)
      return;
    const auto& object = *put.self.as<Instance>();
    const std::string into = object_text(record, put, ""), from = object_text(record, *taken->second, "");
    if (into.empty() || from.empty() || into == from || !once(put.place)) return;
    Finding* finding = report.add(Severity::warning, put.place, put.calls,
        code(into) + " and " + code(from) +
            " are the same object: loading the state of one into the other changes nothing, and a target moves with every step of the training. Make a copy: `copy.deepcopy(" +
            from + ")`.");
    if (finding && object.born) report.relate(*finding, object.born, "the one object that both are");
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/same-network",
    .severity = Severity::warning,
    .summary = "a target network is the same object as the network that is trained",
    .why =
        "`target = online` gives the network a second name and copies nothing. A target network is to stand still between two updates; this one moves with each step of the optimizer, `load_state_dict` copies each tensor onto itself, and the values chase themselves.",
    .wrong = "self.target = self.online\n"
             "…\n"
             "self.target.load_state_dict(self.online.state_dict())\n",
    .right = "self.target = copy.deepcopy(self.online)\n"
             "…\n"
             "self.target.load_state_dict(self.online.state_dict())\n",
    .silent =
        "Networks that were copied or made anew; a network that is loaded from its own state under one name.",
    .fix = "None: decide whether the network is copied or made anew.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::same_network
