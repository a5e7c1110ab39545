// Evaluations of which nobody sets the mode, as far as the text of the file shows. Says nothing to the user.
#pragma once

#include "rules/training/evaluation.hpp"

#include <optional>

namespace stepzero::rules {

// A call of train() or eval() that the file holds.
struct ModeCall {
  Place place;
  std::string_view object;                         // "self.model"
  const syntax::FunctionStmt* function = nullptr;  // the innermost around it
  bool trains = false, evaluates = false;
};

// How a model came by its weights.
struct LoadedWeights {
  Place place;
  bool whole = false;  // the object itself was loaded, in the mode that it was saved in
};

// Where the model of an evaluation is set to training mode by somebody else's function, or by its own after
// the evaluation, though its own function, which is there to evaluate, never sets it to evaluation, and
// nobody who calls it by its name either. Null: nowhere.
class UnsetModes {
public:
  explicit UnsetModes(const Record& record);
  // Is it, or what it is a part of, set to evaluation in any run?
  bool ever_evaluates(const Object* module) const { return evaluated_.contains(module); }
  const ModeCall* trained_elsewhere(const Evaluation& evaluation) const;
  // What sets the model to training mode in the function that evaluates it, after it has: the mode before was
  // meant to be another, and nothing sets one. Null: nothing.
  const OperationEvent* trained_after(const Evaluation& evaluation) const;
  // Where weights are loaded into the model, which somebody has made for that, or it is loaded as a whole, in
  // a file that sets no mode at all. Without a place: nowhere.
  LoadedWeights loaded_here(const Evaluation& evaluation) const;

  // Is the model given to a function that is there to evaluate, by its name, and sets no mode, and does
  // nobody who calls it in the file?
  bool left_to_callers(const Evaluation& evaluation) const;

private:
  // The calls that are written in the files.
  struct Written {
    explicit Written(const Record& record);
    void add(const Record& record, std::uint32_t chunk, const syntax::CallExpr& call,
        const syntax::FunctionStmt* function);
    std::vector<ModeCall> modes;
    std::vector<std::pair<std::string_view, const syntax::FunctionStmt*>>
        called;  // by which name, in which function
  };
  // Read when it is first asked: most files evaluate nothing.
  const Written& written() const {
    if (!written_) written_.emplace(record_);
    return *written_;
  }
  bool callers_set(const syntax::FunctionStmt& function) const;
  const Record& record_;
  std::set<const Object*> evaluated_;
  std::map<const Object*, LoadedWeights> loads_;  // into which object, or which it is
  mutable std::optional<Written> written_;
};

}  // namespace stepzero::rules
