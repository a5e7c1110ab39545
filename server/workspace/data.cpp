#include "server/workspace/data.hpp"

namespace stepzero::server {

std::shared_ptr<const program::Data> read_data(
    std::string_view path, std::string_view text, program::DataFormat format) {
  auto data = std::make_shared<program::Data>();
  const bool read = path.ends_with(".toml") ? read_toml(text, *data)
      : format == program::DataFormat::json
      ? read_json(text, *data)
      : read_yaml(text, *data, format == program::DataFormat::omegaconf);
  return read ? data : nullptr;
}

}  // namespace stepzero::server
