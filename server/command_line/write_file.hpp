// Replaces a file's contents so that a crash or a full disk leaves the old or the new text and nothing
// between.
#pragma once

#include <string>
#include <string_view>

namespace stepzero::server {

// Keeps the permissions, and follows a symbolic link to the file after it. Only if the file still holds
// `before`. Empty, or why it was not done.
std::string replace_file(const std::string& path, std::string_view before, std::string_view after);

// The same of a file that may not be there yet, whatever it holds.
std::string write_file(const std::string& path, std::string_view text);

}  // namespace stepzero::server
