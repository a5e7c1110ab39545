// What `check` found of files, kept on disk for the next run: `.stepzero_cache/`, a file for each checked
// one. An entry holds while nothing that it was made from has changed: the program, the settings, the file,
// and every file that was looked for on the way, there or not, by content. What is damaged, or of another
// program, is no entry. Any number of runs may use one folder at a time. Thread-safe.
#pragma once

#include "server/command_line/checker.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace stepzero::server {

class Cache {
public:
  // Nothing is written before there is something to keep.
  explicit Cache(std::string folder) : folder_(std::move(folder)) {}

  // What `make` once said of the file, if it is still true; else what it says now, which is kept.
  // `made_with`: all that it depends on and that is no file it names as read.
  Checked checked(
      const std::string& path, const std::string& made_with, const std::function<Checked()>& make);

  // The contents of files, as text to compare.
  std::string states(const std::vector<std::string>& paths);

private:
  std::uint64_t state_of(const std::string& path);
  std::uint64_t key(
      const std::string& path, const std::string& made_with, const std::vector<std::string>& read);
  std::string entry_of(const std::string& path) const;
  std::optional<Checked> load(const std::string& path, const std::string& made_with);
  void keep(const std::string& path, std::uint64_t key, const Checked& checked);
  bool make_folder();
  void drop_old() const;

  const std::string folder_;
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> states_;  // of files, at their first look in this run
  std::optional<bool> has_folder_;
};

// What tells this build of the program from others.
std::string program_identity();

}  // namespace stepzero::server
