// What sums lack because code makes it that is not seen: models and parts of models, by the names that the
// program gives them.
#pragma once

#include "footprint/account.hpp"

namespace stepzero::footprint {

struct UnseenModel {
  std::string name;                      // "model", "model.backbone"
  std::string made_by;                   // "timm.create_model"; empty: not known
  values::Place place;                   // of that call; none: not known
  const Optimizer* optimizer = nullptr;  // that was given its parameters
};
std::vector<UnseenModel> unseen_models(const Account& account);

}  // namespace stepzero::footprint
