// What checkpointing would spare, and what it spares where it is done.
#pragma once

#include "footprint/account.hpp"

namespace stepzero::footprint {

// Of a stack of modules that are alike: what checkpointing each of them would spare.
struct Advice {
  std::string what;        // "blocks"
  std::int64_t saves = 0;  // bytes of the peak
  std::int64_t peak = 0;   // as it is
  double more = 0;         // of the FLOPs of a whole step, as a share of 1
};
// The best; nullopt: there is none, or it would spare little.
std::optional<Advice> advice_of(const Account& account, const StepAccount& step);
// "activation checkpointing of `blocks` would save 11.2 GiB of 14.6 GiB for 31 % more FLOPs"
std::string advice_text(const Advice& advice);

// One call of checkpoint(): what it keeps, and what stands while its operations run again.
struct Region {
  const Node* node = nullptr;
  std::int64_t keeps = 0;  // its inputs, as far as nothing else keeps them
  std::int64_t again = 0;  // what its operations would have kept
  std::int64_t operations = 0;
  bool known = true;
};
std::vector<Region> regions_of(const Account& account, const StepAccount& step);

}  // namespace stepzero::footprint
