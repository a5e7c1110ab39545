#include "server/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>

namespace stepzero::server::log {

namespace {
spdlog::level::level_enum of(Level level) {
  switch (level) {
  case Level::debug: return spdlog::level::debug;
  case Level::info: return spdlog::level::info;
  case Level::warning: return spdlog::level::warn;
  case Level::error: return spdlog::level::err;
  }
  return spdlog::level::err;
}
}  // namespace

void begin() {
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("stepzero", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
  const char* level = std::getenv("STEPZERO_LOG");
  spdlog::set_level(level ? spdlog::level::from_str(level) : spdlog::level::warn);
}

void write(Level level, const std::string& line) { spdlog::log(of(level), "{}", line); }

}  // namespace stepzero::server::log
