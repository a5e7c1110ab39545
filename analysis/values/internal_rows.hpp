// Rows that no name of a library stands for: what the run records by itself, classes of objects that
// libraries make, and names that are looked up with a prefix. Each is declared here once; the tables of
// libraries give it its row, and the interpreter and the rules find it by this name.
#pragma once

#include "values/kept.hpp"

#include <algorithm>
#include <array>

namespace stepzero::values {

// Does the path of a row begin with one of these, and not with the name of a library?
constexpr bool is_internal(std::string_view path) { return path.starts_with('$'); }

// A name in a row's path: `under<InternalRow::model, "net">` is the path of the row that says it.
template <std::size_t size> struct Literal {
  char text[size]{};
  consteval Literal(const char (&from)[size]) { std::copy_n(from, size, text); }
};
namespace internal {
template <const KeyPrefix& prefix, Literal name> struct Joined {
  static constexpr auto text = [] {
    constexpr std::size_t length = sizeof name.text - 1;
    std::array<char, prefix.text.size() + length> joined{};
    std::copy_n(name.text, length, std::ranges::copy(prefix.text, joined.begin()).out);
    return joined;
  }();
};
}  // namespace internal
template <const KeyPrefix& prefix, Literal name> constexpr std::string_view under{
    internal::Joined<prefix, name>::text.data(), internal::Joined<prefix, name>::text.size()};
template <const KeyPrefix& prefix, Literal... names> constexpr std::array all_under{under<prefix, names>...};

struct InternalRow {
  static constexpr std::string_view carried = "$carried";  // a tensor of one round is used in the next
  static constexpr std::string_view kept = "$kept";        // a tensor is put into what outlives the round
  static constexpr std::string_view picked = "$picked";    // a tensor is indexed by a tensor of the loop
  static constexpr std::string_view part = "$part";        // a part of what was loaded is read
  static constexpr std::string_view read = "$read";        // a number is read from a tensor
  static constexpr std::string_view fits = "$fits";        // two sizes are taken to be equal
  static constexpr std::string_view window = "$window";    // a slice of the data of a training loop
  static constexpr std::string_view misfits = "$misfits";  // the last, smaller batch of a loader does not fit
  static constexpr std::string_view same_in_all =
      "$same_in_all";                                      // a size is taken to be the same on all ranks
  static constexpr std::string_view handler = "$handler";  // what the handler of a try takes
  static constexpr std::string_view raised = "$raised";    // the exception of a raise statement
  static constexpr std::string_view unseen = "$unseen";    // unseen code was handed tensors or modules
  static constexpr std::string_view unseen_communication =
      "$unseen_communication";                       // code that is not run communicates
  static constexpr KeyPrefix of_unseen{"$unseen."};  // … and a method: of a module that is not seen
  static constexpr std::string_view called_unseen = "$unseen.__call__";  // … its call
  static constexpr std::string_view given_together =
      "$unseen.given_together";                                  // several tensors are given to a call of one
  static constexpr std::string_view parameters = "$parameters";  // the class of what parameters() gives
  static constexpr std::string_view parameters_iter = "$parameters.__iter__";
  static constexpr std::string_view catches = "$catches";      // the class of managers that catch exceptions
  static constexpr std::string_view casts = "$casts";          // the class of autocast regions
  static constexpr std::string_view casts_off = "$casts_off";  // … that are switched off
  static constexpr std::string_view grad_mode = "$grad_mode";  // the class of managers that switch gradients
  static constexpr std::string_view join = "$join";        // the class of torch.distributed.algorithms.Join
  static constexpr std::string_view no_sync = "$no_sync";  // the class of no_sync()
  static constexpr std::string_view fully_sharded =
      "$fully_sharded";  // the class of the marker that fully_shard leaves
  static constexpr std::string_view before_sharded =
      "$fully_sharded.before";  // the hook before the forward of a sharded module
  static constexpr std::string_view after_sharded = "$fully_sharded.behind";  // … and after it
  static constexpr std::string_view same = "$same";                           // gives back its argument
  static constexpr std::string_view hold =
      "$hold";  // the constructor of a class that derives from dict or list
  static constexpr std::string_view missing = "$missing";  // __getattr__ of a class that has none
  static constexpr std::string_view dataclass_init = "$dataclass_init";  // the constructor of a dataclass
  static constexpr std::string_view open = "$open";                      // open()
  static constexpr std::string_view file_text = "$file_text";            // read() of a file of data
  static constexpr std::string_view data_file =
      "$data_file";  // the class of marks that say which file a dict was read of
  static constexpr std::string_view hydra = "$hydra.main";  // the class of what hydra.main() gives
  static constexpr std::string_view hydra_call = "$hydra.main.__call__";
  static constexpr std::string_view hydra_decorated =
      "$hydra.decorated";  // … and of the function that it decorates
  static constexpr std::string_view hydra_decorated_call = "$hydra.decorated.__call__";
  static constexpr KeyPrefix import_{"$import."};  // … and a name that programs import without being seen to
  static constexpr KeyPrefix model{"$model."};     // … and a name that programs give to models
  static constexpr KeyPrefix device{"$device."};   // … and a name that programs give to devices
  static constexpr KeyPrefix chooses_device{
      "$chooses_device."};  // … and a name that they give to what holds the device that they have chosen
  static constexpr KeyPrefix calls_others{
      "$calls_others."};  // … and a name that they give to the method of a class that calls the others
  static constexpr KeyPrefix asks_ndim{
      "$asks_ndim."};  // … and a method of arrays that gives their number of dimensions
  static constexpr KeyPrefix sized{"$sized."};  // … and one that says the size alone: `Tensor["B", 768]`
  static constexpr KeyPrefix shape_annotation{
      "$shape_annotation."};  // … and the name of an annotation that says shape and kind: jaxtyping's `Float`
  static constexpr KeyPrefix keeps_size{"$keeps_size."};  // … and a name that programs give to activations
  static constexpr KeyPrefix keeps_size_in_a_row{"$keeps_size_in_a_row."};  // … to norms and the like as well
  static constexpr KeyPrefix settings{"$settings."};  // … and a class of configurations: its defaults
  static constexpr KeyPrefix any{
      "$any."};  // of the layers of torch.nn, … and an attribute that some of them have
  static constexpr KeyPrefix given{
      "$given."};  // of a class with hooks, … and a parameter of theirs: its class
  static constexpr KeyPrefix set{
      "$set."};  // of a class, … and an attribute: the call that sets it; of none: it may become another
  static constexpr KeyPrefix reads_all{
      "$reads_all."};  // … and the path of a function that reads what it is given to its end
  static constexpr std::string_view lists = "$lists";  // of a class: a property whose type is a list
  static constexpr std::string_view out_of_sight =
      "$out_of_sight";  // of nn.Module: what unseen code may do to one
  static constexpr std::string_view may_be_frozen =
      "$may_be_frozen";  // of nn.Module: its parameters may need no gradient
  static constexpr std::string_view combined =
      "$combined";  // of two operands of a sign of which nothing is seen
  static constexpr std::string_view may_lie_on_gpu =
      "$may_lie_on_gpu";                                   // of nn.Module: somebody may have moved it there
  static constexpr std::string_view seen_to = "$seen_to";  // of a class of a library: what its methods may
                                                           // have done when nobody calls the constructor
};

}  // namespace stepzero::values
