#include "rules/shape/unmoved_sent.hpp"

#include "rules/call_at.hpp"
#include "rules/job_devices.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/devices.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace stepzero::rules {

using namespace interpreter;
using values::code;
using values::Kind;

namespace {

enum class Lies : std::uint8_t { unknown, on_cpu, on_gpu };

// Where it was made by default is the CPU, unless somebody has said otherwise.
Lies where(const Record& record, const values::TensorState* state) {
  if (!state || !state->device) return Lies::unknown;
  if (values::is_cpu(state->device)) return Lies::on_cpu;
  if (values::is_accelerator(state->device)) return Lies::on_gpu;
  const auto asked = record.conditions.find(values::DeviceCondition::default_is_cpu);
  bool on_cpu = asked != record.conditions.end();
  for (const values::PossibleDevice& each : values::possible_devices(record.symbols, *state->device))
    on_cpu = on_cpu && (values::is_reserved(each.text) || (each.text == "cpu" && each.when == asked->second));
  return on_cpu ? Lies::on_cpu : Lies::unknown;
}

struct Sent {
  std::string text;
  Lies lies = Lies::unknown;
};

std::string text_given(const Record& record, const OperationEvent& event, std::size_t index) {
  const syntax::CallExpr* call = call_at(record, event.place);
  if (!call) return {};
  const auto text = [&](const syntax::Expr& expr) {
    return std::string(record.text({event.place.chunk, expr.span}));
  };
  if (index < call->arguments.size()) return text(*call->arguments[index]);
  for (const syntax::Keyword& keyword : call->keywords)
    if (keyword.name.text() == event.row->parameters[index].text()) return text(*keyword.value);
  return {};
}

// The tensors and the lists of tensors that the call is given.
std::vector<Sent> sent_by(const Record& record, const OperationEvent& event) {
  const values::CollectiveInfo& info = *event.row->collective;
  std::set<int> indices{info.tensor, info.list};
  std::vector<Sent> found;
  for (const int index : indices) {
    if (index < 0) continue;
    const auto at = static_cast<std::size_t>(index);
    Sent sent{text_given(record, event, at), where(record, event.argument_state(at))};
    if (const values::ListState* list = event.list_state(at); list && !list->items.empty()) {
      sent.lies = Lies::unknown;
      bool first = true;
      for (const values::Value item : list->items) {
        const Lies one = item.is(Kind::tensor) ? where(record, item.as<values::Tensor>()->now())
                                               : Lies::unknown;
        sent.lies = first || one == sent.lies ? one : Lies::unknown;
        first = false;
      }
    } else if (list && list->rest.is(Kind::tensor)) {
      sent.lies = where(record, list->rest.as<values::Tensor>()->now());
    }
    if (!sent.text.empty()) found.push_back(std::move(sent));
  }
  return found;
}

}  // namespace

void look_for_unmoved_messages(const Record& record, Report& report) {
  const std::string_view backend = backend_of_gpus(record);
  std::set<std::pair<std::uint32_t, std::uint32_t>> told;
  visit_operations(record, [&](const OperationEvent& event) {
    if (!event.row->collective || event.row->collective->hidden || event.expected) return;
    const std::vector<Sent> sent = sent_by(record, event);
    const auto lies = [&](Lies there) {
      return std::ranges::find_if(sent, [&](const Sent& each) { return each.lies == there; });
    };
    const auto left = lies(Lies::on_cpu), moved = lies(Lies::on_gpu);
    if (left == sent.end() || told.contains({event.place.chunk, event.place.span.begin})) return;
    const std::string name = code(std::string(event.row->collective->name));
    const auto group = static_cast<std::size_t>(event.row->collective->group);
    const bool by_default = event.row->collective->group < 0 || group >= event.arguments.size() ||
        !event.arguments[group] || event.arguments[group].is(Kind::none);
    std::string message;
    Severity severity = Severity::warning;
    if (moved != sent.end()) {
      message = name + " is given " + code(left->text) + " on the CPU and " + code(moved->text) +
          " on a GPU: all that one call sends and receives has to lie on one device. Move " +
          code(left->text) + " there first.";
    } else if (by_default && !backend.empty()) {
      message = name + " goes over " + std::string(backend) + ", which takes tensors on a GPU alone, and " +
          code(left->text) + " is on the CPU. Move it to this rank's GPU first.";
    } else {
      return;
    }
    told.insert({event.place.chunk, event.place.span.begin});
    report.add(severity, event.place, event.calls, message);
  });
}

}  // namespace stepzero::rules
