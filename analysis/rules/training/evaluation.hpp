// Evaluations: what runs a model over many batches without training it. Knows no rule.
#pragma once

#include "rules/training/training.hpp"

#include <functional>

namespace stepzero::rules {

// Does the call set the mode of a module, and to evaluation?
bool sets_mode(const OperationEvent& event);
// Of a method of a module by its name: does it set a mode, and which? `none` for any other.
values::Operation mode_method(std::string_view name);
bool sets_eval(const Record& record, const OperationEvent& event);

// On another side of a decision than the call: within one iteration no way leads from the one to the other.
bool is_instead(const TrainingEvent& each, const TrainingEvent& forward);

// A call of a model: of the model itself, or of a method of it, as of `model.generate(x)`, that asks a part
// of it.
struct ModelCall {
  ModelCall(const OperationEvent& forward);

  Place place;
  const interpreter::CallSite* calls = nullptr;
  Value self;    // the model
  Value result;  // absent: that of a method
  const interpreter::Around* around = nullptr;
  const syntax::CallExpr* expr = nullptr;  // null: that of a method
  std::string_view method;                 // empty: the model itself is called
};

// Are no gradients recorded around it?
bool without_gradients(const ModelCall& call);

struct Evaluation {
  const TrainingRoot* training_root = nullptr;
  // The call of the model, in a loop that trains nothing; of a call of a method, what that asks first.
  const TrainingEvent* forward = nullptr;
  ModelCall call;
  const interpreter::LoopEvent* loop = nullptr;  // the outermost such loop around it
  const OperationEvent* mode = nullptr;          // what last set the model's mode before; null if nothing did
  bool evaluates = false;                        // it did so to evaluation
  // What set the mode, where that is one side of a decision and the other side sets evaluation.
  const TrainingEvent* one_side = nullptr;
  bool is_seen() const {
    return call.self.is(values::Kind::instance);
  }  // else the model is something of which only its use says so
};
std::vector<Evaluation> evaluations(const Record& record, const Training& training);
// " when `args.finetune`": the decisions by which an event is reached, those alone that `counts`; empty if
// there are none.
std::string when_reached(
    const Record& record, const TrainingEvent& event, const std::function<bool(const Turn&)>& counts);
// The model as the program calls it there: "net", "self.model.encoder"; empty if that cannot be said.
std::string called_text(const Record& record, const ModelCall& call);
// The function that calls the model; null: the module.
const values::Function* function_of(const Evaluation& evaluation);
// Does it take what comes out for numbers, which have no gradient?
bool takes_numbers(const Evaluation& evaluation);
bool takes_numbers(const syntax::Stmt& in);
// Does the loop write a sequence on, token by token? What is chosen of the scores has no gradient.
bool generates(const interpreter::LoopEvent& loop);
// Are its iterations those over data? A plain count of them draws again and again, which dropout may be meant
// for.
bool is_over_data(const interpreter::LoopEvent& loop);
// Is it there to evaluate, by its name?
bool is_named_evaluation(const Evaluation& evaluation);
// May gradients be off around all of the root, because of who calls it? As far as the text of the file shows.
bool may_be_called_without_gradients(const Record& record, const interpreter::Root& root);

}  // namespace stepzero::rules
