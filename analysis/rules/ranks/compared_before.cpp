#include "rules/ranks/compared_before.hpp"

#include "rules/report.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;

std::uint64_t KnownPlaces::mixed(std::uint64_t sum, std::uint64_t number) {
  std::uint64_t bits = (sum ^ number) + 0x9E3779B97F4A7C15u;  // splitmix64
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
  return bits ^ bits >> 31;
}

KnownPlaces::KnownPlaces(const Record& record) : sums_(record.chunks.size()) {
  for (std::uint32_t i = 1; i < record.chunks.size(); ++i)
    chunks_.try_emplace(record.chunks[i].chunk.get(), i);
  // Causes ask what the conditions of branches and loops hold.
  std::vector<std::vector<bool>> asked(record.chunks.size());  // by chunk and line
  const auto note = [&](const Event& event) {
    std::vector<bool>& lines = asked[event.place.chunk];
    const std::uint32_t last = event.place.span.end / bytes_of_line;
    if (last >= lines.size()) lines.resize(last + 1);
    for (std::uint32_t line = event.place.span.begin / bytes_of_line; line <= last; ++line)
      lines[line] = true;
  };
  visit_kind(record, EventKind::branch, note);
  visit_kind(record, EventKind::loop, note);
  for (const Fact& fact : record.facts) {
    const std::vector<bool>& lines = asked[fact.place.chunk];
    const std::uint32_t line = fact.place.span.begin / bytes_of_line;
    if (line < lines.size() && lines[line])
      add(fact.place, mixed(static_cast<std::uint64_t>(fact.value.kind), fact.tensor != nullptr));
  }
  for (const values::Int role : record.roles) everywhere_ = mixed(everywhere_, role != nullptr);
}

void KnownPlaces::add(Place place, std::uint64_t what) {
  std::vector<std::uint64_t>& sums = sums_[place.chunk];
  const std::uint32_t line = place.span.begin / bytes_of_line;
  if (line >= sums.size()) sums.resize(line + 1);
  sums[line] += mixed(mixed(what, place.span.begin), place.span.end);
}

void KnownPlaces::add(std::string_view what) {
  everywhere_ += mixed(std::hash<std::string_view>()(what), what.size());
}

std::optional<std::uint64_t> KnownPlaces::of(const std::vector<Line>& lines, const Record& record) const {
  std::uint64_t sum = everywhere_;
  std::uint32_t chunk = 0, same = 0;
  for (const Line line : lines) {
    if (line.chunk != chunk) {
      const auto known = chunks_.find(record.chunks[line.chunk].chunk.get());
      if (known == chunks_.end()) return std::nullopt;
      chunk = line.chunk;
      same = known->second;
    }
    sum = mixed(sum, line.number < sums_[same].size() ? sums_[same][line.number] : 0);
  }
  return sum;
}

void ComparedBefore::begin() {
  former_worlds_ = std::exchange(worlds_, {});
  for (auto kept = by_serial_.begin(); kept != by_serial_.end();)
    kept = std::exchange(kept->second.asked, false) ? std::next(kept) : by_serial_.erase(kept);
}

const std::set<int>& ComparedBefore::worlds_of(const std::string& name) const {
  static const std::set<int> none;
  const auto known = former_worlds_.find(name);
  return known == former_worlds_.end() ? none : known->second;
}

const ComparedBefore::Outcome* ComparedBefore::find(const Root& root) const {
  const auto kept = by_serial_.find(root.serial);
  return kept == by_serial_.end() || !kept->second.outcome ? nullptr : &*kept->second.outcome;
}

void ComparedBefore::keep(const Root& root, Outcome outcome) {
  Kept& kept = by_serial_[root.serial];
  kept.outcome = std::move(outcome);
  kept.asked = true;
}

std::optional<std::uint64_t> ComparedBefore::rests_on(
    const Root& root, const Record& record, const KnownPlaces& known) {
  const auto [kept, fresh] = by_serial_.try_emplace(root.serial);
  std::vector<KnownPlaces::Line>& lines = kept->second.lines;
  kept->second.asked = true;
  if (fresh) {
    visit(root.block, [&](const Event& event) {
      if (!event.place) return;
      const std::uint32_t first = event.place.span.begin / KnownPlaces::bytes_of_line,
                          last = event.place.span.end / KnownPlaces::bytes_of_line;
      for (std::uint32_t line = first; line <= last; ++line)
        if (const KnownPlaces::Line one{event.place.chunk, line}; lines.empty() || lines.back() != one)
          lines.push_back(one);
    });
    std::ranges::sort(lines);
    lines.erase(std::ranges::unique(lines).begin(), lines.end());
    lines.shrink_to_fit();
  }
  const auto told = known.of(lines, record);
  if (!told) return std::nullopt;
  return KnownPlaces::mixed(KnownPlaces::mixed(root.serial, root.truncated), *told);
}

}  // namespace stepzero::rules
