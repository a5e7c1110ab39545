// Autocast around what the program does: which region an operation stands in, and which one a loss was
// computed in. Knows no rule.
#pragma once

#include "rules/training/training.hpp"

namespace stepzero::rules {

struct Autocast {
  const interpreter::Around* around = nullptr;
  const Instance* manager = nullptr;
  Answer enabled = Answer::unknown;
  std::string when;  // " when `use_amp`" if that is what decides
  values::Dtype dtype = values::Dtype::unknown;
  std::string_view device;         // "cuda", "cpu", …; empty if not known
  bool without_gradients = false;  // it stands inside no_grad
  bool if_there =
      false;  // only where the library finds what it computes on, or the region is entered only there
};

// The innermost region that an operation stands in; nothing if there is none, or if what is there is not
// known.
std::optional<Autocast> autocast_around(const Record& record, const interpreter::Around* around);
// The region that a backward stands in or, failing that, one in which its loss, or what that came of, was
// computed.
std::optional<Autocast> autocast_of_loss(const Record& record, const OperationEvent& backward);
// The same for a machine that has what the program asks the library for: `autocast(device) if
// torch.cuda.is_available() else …`.
std::optional<Autocast> autocast_of_loss_if_there(const Record& record, const OperationEvent& backward);
// Every region that the program enters with gradients on.
std::vector<Autocast> training_regions(const Record& record);

}  // namespace stepzero::rules
