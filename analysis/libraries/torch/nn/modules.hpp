// The parts of a module. Native state lies in attributes that start with '$': `$items` holds the parts of a
// Sequential or ModuleList in order, `$names` their names where they have any, `$dict` the parts of a
// ModuleDict. Every other attribute that holds a module is a part under the attribute's name.
#pragma once

#include "libraries/table/native.hpp"

namespace stepzero::libraries {

constexpr std::string_view module_class = "torch.nn.Module";

struct Part {
  std::string name;
  Value module;
};
struct Parts {
  std::vector<Part> list;  // of two modules of which one is the part, both
  bool complete = true;    // each is a part, and there is no other
  bool or_others = false;  // parts may be there that are not in the list
};
Parts parts_of(Runtime& run, const Instance& module);
// What a module was called with, as its `forward` is given it.
interpreter::Arguments arguments_of(const Call& call);

// Any one of the parameters or buffers of a module that is not seen; the module is the `self` of its
// Producer.
Value unseen_weights(Call& call, Value module, values::TensorRole role);
// `grad_writes` of a parameter that requires a gradient: as long as no unseen code had its module.
constexpr std::uint64_t trained_for_certain = ~std::uint64_t{0};
// What code that is not seen has, or what is done to some part that is not known, may have been converted:
// the dtypes of its weights are not known any more. Of a module that was converted in sight they are kept.
// Keeps the call's first argument among the hooks of that key, and gives the handle that removes it.
Value add_hook(Call& call, std::string_view which);
// Somebody may have converted and moved the module.
void lose_dtypes(Runtime& run, Value module);
// Methods of a module: unseen code is handed it; who has it may freeze what it holds.
Value out_of_sight(Call& call);
Value may_be_frozen(Call& call);
Value may_lie_on_gpu(Call& call);
Value compared_by_unseen(Call& call);  // unseen_loss.cpp
Value given_to_unseen(Call& call);     // the same
Value combined_unseen(Call& call);     // the same
// Somebody has moved it, and it is not known where to.
void lose_devices(Runtime& run, Value module);

// The last answer of a module: its `__getattr__`. Absent, or AttributeError where the program calls it by its
// name.
Value within_compiled(Call& call);

// torch.compile, TorchScript, and what asks whether they run.
std::vector<Row> compiled_rows();
// Parameters and buffers that the program makes itself.
std::vector<Row> tensor_rows();
// ParameterList and ParameterDict.
std::vector<Row> parameter_container_rows();

// Paths of attributes that modules, and that some layers of torch.nn have besides.
std::span<const std::string_view> other_names_of_modules();
std::span<const std::string_view> names_of_layers();

}  // namespace stepzero::libraries
