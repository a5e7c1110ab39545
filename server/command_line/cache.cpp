#include "server/command_line/cache.hpp"

#include "rules/rule.hpp"
#include "server/command_line/json.hpp"
#include "server/version.hpp"
#include "server/workspace/paths.hpp"
#include "server/workspace/read.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include <unistd.h>

namespace stepzero::server {
namespace {

// The first number of an entry: another one, another shape of what follows.
constexpr int format = 1;

// FNV-1a, eight bytes at a time: the same in every run.
std::uint64_t hash(std::string_view text, std::uint64_t seed = 14695981039346656037u) {
  constexpr std::uint64_t prime = 1099511628211u;
  std::uint64_t made = (seed ^ text.size()) * prime;
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < 8; ++i)
      word |= std::uint64_t{static_cast<unsigned char>(text[at + i])} << (8 * i);
    made = (made ^ word) * prime;
    made ^= made >> 32;
  }
  for (; at < text.size(); ++at) made = (made ^ static_cast<unsigned char>(text[at])) * prime;
  return made;
}
std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return ((a ^ b) * 1099511628211u) ^ (a >> 29); }

constexpr std::size_t digits = 16;
std::string in_digits(std::uint64_t number) {
  std::string text(digits, '0');
  for (std::size_t i = digits; i-- > 0; number >>= 4) text[i] = "0123456789abcdef"[number & 15];
  return text;
}

// Another run may read or write the same file: it finds the old one or the new one. Where it cannot be
// written, as on a full disk, there is none.
void put(const std::string& path, std::string_view bytes) {
  static std::atomic<unsigned> number = 0;
  const std::string temporary = path + "." + std::to_string(::getpid()) + "-" + std::to_string(++number);
  std::error_code error;
  std::ofstream file(temporary, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) std::filesystem::rename(temporary, path, error);
  if (!file || error) std::filesystem::remove(temporary, error);
}

Json json_of(const rules::Location& where) { return {where.path, where.span.begin, where.span.end}; }
rules::Location location_of(const Json& json) {
  return {json.at(0).get<std::string>(), {json.at(1).get<std::uint32_t>(), json.at(2).get<std::uint32_t>()}};
}

Json json_of(const rules::Finding& finding) {
  Json related = Json::array(), fixes = Json::array();
  for (const rules::Related& each : finding.related) related.push_back({json_of(each.where), each.message});
  for (const rules::Fix& fix : finding.fixes) {
    Json edits = Json::array();
    for (const rules::TextEdit& edit : fix.edits) edits.push_back({json_of(edit.where), edit.new_text});
    fixes.push_back({fix.title, fix.preferred, std::move(edits)});
  }
  return {std::string(finding.rule), static_cast<int>(finding.severity), json_of(finding.where),
      finding.message, std::move(related), std::move(fixes)};
}

// Throws where the entry is damaged.
rules::Finding finding_of(const Json& json) {
  const rules::Rule* const rule = rules::find_rule(json.at(0).get<std::string>());
  const int severity = json.at(1).get<int>();
  if (!rule || severity < 0 || severity > static_cast<int>(rules::Severity::hint))
    throw std::runtime_error("no such rule or severity");
  rules::Finding finding;
  finding.rule = rule->id;
  finding.severity = static_cast<rules::Severity>(severity);
  finding.where = location_of(json.at(2));
  finding.message = json.at(3).get<std::string>();
  for (const Json& each : json.at(4))
    finding.related.push_back({location_of(each.at(0)), each.at(1).get<std::string>()});
  for (const Json& each : json.at(5)) {
    rules::Fix fix{each.at(0).get<std::string>(), each.at(1).get<bool>(), {}};
    for (const Json& edit : each.at(2))
      fix.edits.push_back({location_of(edit.at(0)), edit.at(1).get<std::string>()});
    finding.fixes.push_back(std::move(fix));
  }
  return finding;
}

Json json_of(const Checked& checked) {
  Json findings = Json::array();
  for (const rules::Finding& finding : checked.findings) findings.push_back(json_of(finding));
  return {std::move(findings), checked.read, checked.not_checked, checked.is_too_large, checked.unparsed};
}

Checked checked_of(const Json& json) {
  Checked checked;
  for (const Json& finding : json.at(0)) checked.findings.push_back(finding_of(finding));
  checked.read = json.at(1).get<std::vector<std::string>>();
  checked.not_checked = json.at(2).get<std::string>();
  checked.is_too_large = json.at(3).get<bool>();
  checked.unparsed = json.at(4).get<std::vector<std::uint32_t>>();
  return checked;
}

}  // namespace

std::string program_identity() {
  std::string identity(version());
  if (const auto stamp = file_stamp("/proc/self/exe"))
    identity += " " + std::to_string(stamp->modified) + " " + std::to_string(stamp->size);
  return identity;
}

std::uint64_t Cache::state_of(const std::string& path) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = states_.find(path); known != states_.end()) return known->second;
  }
  constexpr std::uint64_t nothing = 1, folder = 2, unreadable = 3;
  std::uint64_t state = nothing;
  std::error_code error;
  if (file_stamp(path)) {
    const ReadText read = read_text(path);
    state = read.text ? hash(*read.text) : mix(unreadable, hash(read.reason));
  } else if (std::filesystem::is_directory(path, error)) {
    state = folder;
  }
  const std::lock_guard lock(mutex_);
  return states_.emplace(path, state).first->second;
}

std::string Cache::states(const std::vector<std::string>& paths) {
  std::string all;
  for (const std::string& path : paths) all += path + "=" + std::to_string(state_of(path)) + "\n";
  return all;
}

std::uint64_t Cache::key(
    const std::string& path, const std::string& made_with, const std::vector<std::string>& read) {
  std::uint64_t made = mix(hash(made_with), state_of(path));
  for (const std::string& each : read) made = mix(mix(made, hash(each)), state_of(each));
  return made;
}

std::string Cache::entry_of(const std::string& path) const { return join(folder_, in_digits(hash(path))); }

std::optional<Checked> Cache::load(const std::string& path, const std::string& made_with) {
  std::ifstream file(entry_of(path), std::ios::binary);
  if (!file) return std::nullopt;
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::string_view all = bytes, body = all.substr(std::min(digits, all.size()));
  if (all.substr(0, digits) != in_digits(hash(body))) return std::nullopt;
  try {
    const Json entry = Json::from_cbor(body);
    if (entry.at(0).get<int>() != format || entry.at(1).get<std::string>() != path) return std::nullopt;
    Checked checked = checked_of(entry.at(3));
    if (entry.at(2).get<std::uint64_t>() != key(path, made_with, checked.read)) return std::nullopt;
    return checked;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// A folder that says of itself that it is a cache, and that git is not to look into.
bool Cache::make_folder() {
  const std::lock_guard lock(mutex_);
  if (has_folder_) return *has_folder_;
  std::error_code error;
  const bool is_new = std::filesystem::create_directory(folder_, error);
  has_folder_ = !error && std::filesystem::is_directory(folder_, error);
  if (is_new && *has_folder_) {
    put(join(folder_, ".gitignore"), "*\n");
    put(join(folder_, "CACHEDIR.TAG"),
        "Signature: 8a477f597d28d172789f06886806bc55\n# Results of stepzero check; may be deleted at any time.\n");
  }
  if (*has_folder_ && !is_new) drop_old();
  return *has_folder_;
}

// Entries of files that are gone are never read again; the others are made anew once in a while.
void Cache::drop_old() const {
  constexpr auto longest = std::chrono::hours(24 * 30);
  const auto now = std::filesystem::file_time_type::clock::now();
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder_, error);
      !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.size() != digits || name.find_first_not_of("0123456789abcdef") != std::string::npos) continue;
    std::error_code ignored;
    if (const auto written = std::filesystem::last_write_time(it->path(), ignored);
        !ignored && now - written > longest)
      std::filesystem::remove(it->path(), ignored);
  }
}

void Cache::keep(const std::string& path, std::uint64_t key, const Checked& checked) {
  if (!make_folder()) return;
  const std::vector<std::uint8_t> body = Json::to_cbor(Json{format, path, key, json_of(checked)});
  const std::string bytes(body.begin(), body.end());
  put(entry_of(path), in_digits(hash(bytes)) + bytes);
}

Checked Cache::checked(
    const std::string& path, const std::string& made_with, const std::function<Checked()>& make) {
  if (std::optional<Checked> kept = load(path, made_with)) {
    kept->is_from_cache = true;
    return std::move(*kept);
  }
  state_of(path);  // as it is before it is read: what changes in the meantime is seen in the next run
  Checked checked = make();
  // What went wrong may go right the next time.
  if (checked.unreadable.empty() && checked.failures.empty())
    keep(path, key(path, made_with, checked.read), checked);
  return checked;
}

}  // namespace stepzero::server
