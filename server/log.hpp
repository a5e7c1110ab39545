// The log of the server, on standard error. The one place that knows spdlog, which is slow to compile.
#pragma once

#include <cstdint>
#include <string>

namespace stepzero::server::log {

enum class Level : std::uint8_t { debug, info, warning, error };

// Before anything is logged. STEPZERO_LOG: trace, debug, info, warn, err or off; warn where it is not set.
void begin();
void write(Level level, const std::string& line);

inline void debug(const std::string& line) { write(Level::debug, line); }
inline void info(const std::string& line) { write(Level::info, line); }
inline void warning(const std::string& line) { write(Level::warning, line); }
inline void error(const std::string& line) { write(Level::error, line); }

}  // namespace stepzero::server::log
