// The tensors that a tree of modules holds: parameters and buffers, each once however many modules share it.
#pragma once

#include "footprint/bytes.hpp"

#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace stepzero::footprint {

using values::Instance;

bool is_a(const Instance& object, std::string_view class_path);
inline bool is_module(Value value) {
  return value.is(values::Kind::instance) && is_a(*value.as<Instance>(), "torch.nn.Module");
}
// A choice whose condition is decided is its side.
Value decided(const Record& record, Value value);
// The attribute, decided; absent if there is none.
Value attribute(const Record& record, const Instance& object, std::string_view name);

// The argument of that name of a recorded call, decided; absent if it is not given.
Value argument_of(const Record& record, const interpreter::OperationEvent& event, std::string_view name);
// Is it given, and False?
bool is_given_off(const Record& record, const interpreter::OperationEvent& event, std::string_view name);

struct Held {
  std::string name;                        // "layers.0.weight"
  const values::Tensor* tensor = nullptr;  // null: one of a layer that PyTorch builds inside
  const Instance* module = nullptr;        // that holds it
  Shape shape;
  Dtype dtype = Dtype::unknown;
  bool is_parameter = true;
  values::Known trained = values::Known::yes;
  std::int64_t copies =
      1;  // modules that were made alike in one line: the run knows one that stands for all of them
  std::optional<Shape> local = {};  // of a shard: what one process has of it
  Value group = {};                 // of an optimizer's: the dict that it was given in
  const Shape& own() const { return local ? *local : shape; }
};

// The parameters that backwards leave gradients in.
struct Reach {
  std::unordered_set<const values::Tensor*> tensors;
  std::unordered_set<const Instance*> layers;  // that hold tensors which PyTorch makes inside
  bool holds(const Held& held) const {
    return held.tensor ? tensors.contains(held.tensor) : layers.contains(held.module);
  }
};

// A tensor that another module in front of it holds, too.
struct Tied {
  std::string with;  // "embed.weight"
  Shape shape;
  Dtype dtype = Dtype::unknown;
};

struct Module {
  std::string path;  // "layers.0"; empty: the model itself
  std::string type;  // "Linear"
  const Instance* object = nullptr;
  int depth = 0;
  std::int64_t copies = 1;
  std::vector<Held> own;   // without those of its parts, and those that are tied
  std::vector<Tied> tied;  // the same
};

// A part that code made which is not seen.
struct UnseenPart {
  std::string path;    // "backbone"
  values::Place made;  // the call; none: not known
};

struct Tree {
  std::vector<Module> modules;  // the model first, each module once, those inside after
  std::vector<UnseenPart> unseen;
  bool complete = true;  // else there are parts or tensors that are not known
};
Tree tree_of(const Record& record, const Instance& model);
// Is none of its parameters trained? Not of a module that has none, or of which not all is known.
bool is_frozen(const Record& record, const Instance& module);

// Of these values the models: modules that the program makes and that are part of no other, in order.
std::vector<const Instance*> models_of(const Record& record, const std::vector<Value>& values);

}  // namespace stepzero::footprint
