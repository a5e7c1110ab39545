// shape/device: operands that are known to lie on different devices.
#include "rules/rule.hpp"

#include "rules/shape/operator_problem.hpp"
#include "rules/shape/refusal_text.hpp"
#include "rules/shape/unmoved_batch.hpp"
#include "rules/shape/unmoved_sent.hpp"
#include "rules/shape/unmoved_whole.hpp"
#include "rules/training/parts.hpp"
#include "values/devices.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace stepzero::rules::shape::device {

namespace {

bool is_of_weight(const ProblemEvent& problem) {
  const auto* apart = refusal_of<interpreter::DevicesApart>(problem);
  return apart &&
      (apart->one.is == interpreter::PlacedOperand::weight ||
          apart->one.is == interpreter::PlacedOperand::pos_weight);
}

// The model that the layer belongs to is often made, and left on the CPU, far from where it is called.
void relate_model(const Record& record, const Report& report, const ProblemEvent& problem, Finding& finding) {
  if (!problem.self.is(values::Kind::instance) || !is_of_weight(problem)) return;
  std::map<const values::Object*, bool> holds;
  for (const interpreter::Fact& fact : record.facts) {
    if (fact.role != interpreter::Fact::Role::assignment || !fact.value.is(values::Kind::instance) ||
        !fact.value.as<values::Instance>()->cls || !record.in_file(fact.place))
      continue;
    const auto [known, first] = holds.try_emplace(fact.value.object(), false);
    if (first) {
      Parts parts;
      parts.add(fact.value);
      known->second = parts.found.contains(problem.self.object()) && fact.value != problem.self;
    }
    if (known->second) return report.relate(finding, fact.place, "the model is made here");
  }
}

void check(const Record& record, Report& report) {
  // Where nobody constructs the model, that it lies on a GPU is no choice that the program offers, and
  // neither is what a model does that is not seen.
  std::vector<values::Cond> open;
  for (const std::string_view name : {values::DeviceCondition::model_on_gpu,
           values::DeviceCondition::inputs_stay, values::DeviceCondition::layers_stay,
           values::DeviceCondition::both_tensors, values::DeviceCondition::builder_leaves})
    if (const auto found = record.conditions.find(name); found != record.conditions.end())
      open.push_back(found->second);
  report_problems(record, report, values::ProblemKind::device, Severity::error,
      [&](const ProblemEvent& problem, Finding& finding) {
        relate_model(record, report, problem, finding);
        if (!problem.assumption) return;
        record.symbols.parts(
            problem.assumption, [](values::Int) {},
            [&](values::Cond part) {
              if (std::ranges::find(open, part) != open.end()) finding.severity = Severity::information;
            });
      });
  look_for_unmoved_batches(record, report);
  look_for_batches_left_whole(record, report);
  look_for_unmoved_messages(record, report);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "shape/device",
    .severity = Severity::error,
    .summary = "operands lie on different devices",
    .why =
        "Tensors have to be on one device to be used together; only tensors without dimensions may stay on the CPU. PyTorch raises "
        "\"Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!\". A layer's parameters and buffers lie "
        "where the model was moved; a tensor that is a plain attribute stays where it was made. A device that the program chooses "
        "(`\"cuda\" if torch.cuda.is_available() else \"cpu\"`) makes it a warning that names the choice. So does a model that "
        "nobody constructs here, which somebody may move to a GPU, and a function that is given a device and moves no batch there.",
    .wrong = "x = torch.randn(8, 16, device=\"cuda\")\n"
             "y = x + torch.ones(16)\n",
    .right = "x = torch.randn(8, 16, device=\"cuda\")\n"
             "y = x + torch.ones(16, device=x.device)\n",
    .silent =
        "Devices that are not known; numbers and tensors without dimensions; \"cuda\" and \"cuda:0\", which may be the same; a model "
        "that was handed to a framework or to code that is not seen, which may have moved it; inputs of wrappers that move them (DDP, FSDP).",
    .fix = "`.to(x.device)` after the operand that is on the CPU, where the other one has a name.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::shape::device
