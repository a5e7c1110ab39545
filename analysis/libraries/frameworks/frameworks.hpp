// What the files of training frameworks share: calls that hide communication, who is first, and the steps of
// a loop that go through a framework.
#pragma once

#include "libraries/table/hidden.hpp"

#include "interpreter/refusals.hpp"
#include "libraries/table/native.hpp"
#include "values/kept.hpp"

#include <deque>

namespace stepzero::libraries {

std::vector<Row> accelerate_rows();
std::vector<Row> lightning_rows();  // its Trainer and modules
std::vector<Row> fabric_rows();
std::vector<Row> timm_rows();
std::vector<Row> apex_rows();
std::vector<Row> deepspeed_rows();
bool runs_loop(const Row& row);       // of DeepSpeed: the stages of a pipeline clear and step themselves
std::vector<Row> metric_rows();       // torchmetrics
std::vector<Row> average_rows();      // torch_ema, ema_pytorch
std::vector<Row> dist_module_rows();  // of mmengine and composer
std::vector<Row> trainer_rows();      // the Trainer of transformers
std::vector<Row> log_rows();          // where programs write down how a training goes
std::vector<Row> pretrained_rows();   // what unseen packages let programs derive from
std::vector<Row> schedule_rows();     // of learning rates, as transformers makes them
std::vector<Row> summary_rows();      // torchinfo, torchsummary, thop

inline constexpr std::string_view gathers = "it gathers from all processes";
inline constexpr std::string_view wraps_model = "wrapping a model compares and broadcasts its parameters";
inline constexpr std::string_view is_barrier = "it is a barrier";
inline constexpr std::string_view runs_everywhere = "the ranks run it together, and meet in its steps";
inline constexpr std::string_view holds_parts = "every rank holds a part of what is saved";

// The modules among its arguments lie somewhere else then.
Value moves_modules(Call& call);
Value is_first(Call& call);
Value is_local_first(Call& call);
Value gathered(Call& call);         // what all ranks have then, computed from the first argument
Value nothing_learned(Call& call);  // not known: of a prepared model nothing more is said
// The forward of a model that a framework has prepared: that of the one inside. In which types it computes is
// the framework's choice.
Value prepared_forward(Call& call);
// What is kept of a framework, and of the models that it prepares: it was told a precision.
inline constexpr values::KeptKey told_precision = values::AcceleratorState::told_precision;
// A model that shards is wrapped as `sharded`, any other as `usual`, and a loader that shuffles as
// `shuffled`. Empty: such a thing is not followed. `wraps`: a model is wrapped here.
struct Wrappers {
  std::string_view usual, sharded = {}, shuffled = {};
};
Value prepared_item(Call& call, Value item, const Wrappers& wrappers, bool evaluated, bool& wraps);
// Gives the arguments back, wrapped, in their order: a model as the launcher has it, at least as DDP does; an
// optimizer is that optimizer. The last argument then says whether a model was wrapped: the ranks meet there.
template <const Wrappers& wrappers> Value prepare(Call& call) {
  std::vector<Value> items;
  for (std::size_t i = 0; i + 1 < call.arguments.size(); ++i)
    if (call.arguments[i]) items.push_back(call.arguments[i]);
  items.insert(items.end(), call.rest.begin(), call.rest.end());
  const bool evaluated = static_cast<bool>(option(call, "evaluation_mode"));
  bool wraps = false;
  for (Value& item : items) item = prepared_item(call, item, wrappers, evaluated, wraps);
  call.arguments.back() = call.run.heap().boolean(wraps);
  if (items.size() == 1) return items.front();
  return call.run.heap().tuple(std::move(items));
}
// backward(loss): the loss's own.
Value backward_of_first(Call& call);
// Calls a method of a library class on an object of it.
Value call_row(Call& call, Value self, std::string_view path);
// Is it given, and surely not None? Unknown where that depends on what is not seen.
symbolic::Answer is_given(Call& call, Value value);

// What one call refuses of its arguments: all of it is told, each where the argument is written.
class ArgumentChecks {
public:
  // `told_of`: the row that the problem is one of, which chooses the rule.
  void add(std::string name, interpreter::Refusal refusal, bool is_certain, const Row& told_of) {
    found_.push_back({std::move(name), std::move(refusal), is_certain, &told_of});
  }
  void tell(Call& call) const;

private:
  struct Misuse {
    std::string name;
    interpreter::Refusal refusal;
    bool is_certain;
    const Row* row;
  };
  std::vector<Misuse> found_;
};

// The trainer calls the hooks of models, data modules and callbacks: what these hold afterwards is not known.
Value trains(Call& call);
Value evaluates(Call& call);
Value predicts(Call& call);

}  // namespace stepzero::libraries
