// The one place where stale results die. Each open document has a gate; what it refuses was overtaken by a
// newer version, belongs to a closed document, or was said already. Knows no JSON and no thread.
#pragma once

#include <cstdint>
#include <optional>

namespace stepzero::server {

class PublishGate {
public:
  // Whether the diagnostics of `version`, whose content hashes to `content`, are to be sent. What is admitted
  // counts as sent. Each new version is admitted once, whatever its content; the same version again only with
  // new content.
  bool admit(int version, std::uint64_t content) {
    if (closed_ || (version_ && (version < *version_ || (version == *version_ && content == content_))))
      return false;
    version_ = version;
    content_ = content;
    return true;
  }

  void close() { closed_ = true; }
  bool closed() const { return closed_; }

private:
  bool closed_ = false;
  std::optional<int> version_;
  std::uint64_t content_ = 0;
};

}  // namespace stepzero::server
