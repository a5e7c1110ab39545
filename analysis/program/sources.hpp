// Where the analysis reads Python from. The server implements it over open documents and the file system;
// tests over strings. Paths are absolute and lexically normal, with '/'.
#pragma once

#include "program/data.hpp"
#include "syntax/document.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::program {

// Called from analysis threads: implementations are thread-safe, and for one run they answer as of one
// moment.
class Sources {
public:
  virtual ~Sources() = default;
  // The file's module; null if there is no such file or it cannot be read as text. Kept by the
  // implementation.
  virtual std::shared_ptr<const syntax::Module> module(const std::string& path) const = 0;
  virtual bool is_file(const std::string& path) const = 0;
  virtual bool is_folder(const std::string& path) const = 0;
  // What a file of data of the workspace holds; null if there is none, or it cannot be read so. None by
  // default.
  virtual std::shared_ptr<const Data> data(const std::string&, DataFormat) const { return nullptr; }
  // The folders that absolute imports start from, before the importing file's own package root is tried:
  // workspace folders and their src/.
  virtual const std::vector<std::string>& roots() const = 0;
  // The folders of installed libraries (site-packages), asked for what no root has. None by default.
  virtual const std::vector<std::string>& libraries() const {
    static const std::vector<std::string> none;
    return none;
  }
};

}  // namespace stepzero::program
