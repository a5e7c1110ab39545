#include "server/command_line/statistics.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <string_view>

namespace stepzero::server {
namespace {

constexpr std::size_t most_files = 10;
const std::string indent(42, ' ');  // under the name of the file

double milliseconds(std::chrono::microseconds time) { return static_cast<double>(time.count()) / 1000; }

std::string row(
    double reading, double analyzing, std::uint64_t steps, std::size_t units, const std::string& name) {
  char numbers[96];
  std::snprintf(numbers, sizeof numbers, "%10.1f %10.1f %10llu %8zu  ", reading, analyzing,
      static_cast<unsigned long long>(steps), units);
  return numbers + name + "\n";
}

// What took a tenth of the time or more, the longest first: "ranks 812 ms, imports 300 ms".
std::string phases(const Checked& checked) {
  constexpr auto& names = syntax::phase_names;
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return checked.phases[a] > checked.phases[b]; });
  std::string text;
  for (const std::size_t i : order) {
    if (checked.phases[i].count() == 0 || checked.phases[i] < checked.analyzing / 10) continue;
    char took[32];
    std::snprintf(took, sizeof took, " %.1f ms", milliseconds(checked.phases[i]));
    text += (text.empty() ? "" : ", ") + std::string(names[i]) + took;
  }
  return text;
}

std::string roots(const Checked& checked) {
  std::string text;
  for (const auto& [name, steps] : checked.roots)
    if (steps > 0)
      text += (text.empty() ? "" : ", ") + (name.empty() ? "statements" : name) + " " + std::to_string(steps);
  return text;
}

}  // namespace

std::string statistics(const std::vector<std::string>& names, const std::vector<Checked>& results) {
  std::vector<std::size_t> order(results.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto taken = [&](std::size_t i) { return results[i].reading + results[i].analyzing; };
  std::stable_sort(
      order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return taken(a) > taken(b); });
  Checked all;
  std::size_t cached = 0;
  for (const Checked& each : results) {
    cached += each.is_from_cache;
    all.reading += each.reading;
    all.analyzing += each.analyzing;
    all.steps += each.steps;
    for (std::size_t i = 0; i < all.phases.size(); ++i) all.phases[i] += each.phases[i];
    all.units += each.units;
  }
  std::string text = "reading ms    runs ms      steps    units  file\n";
  text += row(milliseconds(all.reading), milliseconds(all.analyzing), all.steps, all.units,
      std::to_string(results.size()) + (results.size() == 1 ? " file, " : " files, ") +
          std::to_string(cached) + " from the cache");
  if (const std::string took = phases(all); !took.empty()) text += indent + took + "\n";
  for (std::size_t i = 0; i < std::min(most_files, order.size()); ++i) {
    const Checked& each = results[order[i]];
    if (each.is_from_cache) continue;
    text += row(
        milliseconds(each.reading), milliseconds(each.analyzing), each.steps, each.units, names[order[i]]);
    if (const std::string took = phases(each); !took.empty()) text += indent + took + "\n";
    if (const std::string costly = roots(each); !costly.empty()) text += indent + "steps: " + costly + "\n";
  }
  return text;
}

std::string statistics(const snapshot::LaunchCounts& launches) {
  if (launches.all == 0) return {};
  const auto number = [](std::size_t count) { return std::to_string(count); };
  return "launches: " + number(launches.whole) + " of " + number(launches.all) + " resolved wholly; " +
      number(launches.open) + " with words that their scripts leave open, " + number(launches.background) +
      " of programs that are not here\n";
}

}  // namespace stepzero::server
