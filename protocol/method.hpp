// A method of the protocol with its types, so that no handler and no call can mistake them.
#pragma once

#include <string_view>

namespace stepzero::protocol {

template <class ParamsType, class ResultType> struct RequestMethod {
  using Params = ParamsType;
  using Result = ResultType;
  std::string_view name;
};

template <class ParamsType> struct NotificationMethod {
  using Params = ParamsType;
  std::string_view name;
};

}  // namespace stepzero::protocol
