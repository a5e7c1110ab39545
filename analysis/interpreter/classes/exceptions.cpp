#include "interpreter/classes/exceptions.hpp"

#include <algorithm>
#include <array>

namespace stepzero::interpreter {

namespace {
struct Derived {
  std::string_view name, base;
};
// Python's exceptions, each with the one that it derives from.
constexpr std::array exceptions = {
    Derived{"Exception", "BaseException"},
    Derived{"KeyboardInterrupt", "BaseException"},
    Derived{"SystemExit", "BaseException"},
    Derived{"GeneratorExit", "BaseException"},
    Derived{"ArithmeticError", "Exception"},
    Derived{"ZeroDivisionError", "ArithmeticError"},
    Derived{"OverflowError", "ArithmeticError"},
    Derived{"FloatingPointError", "ArithmeticError"},
    Derived{"LookupError", "Exception"},
    Derived{"KeyError", "LookupError"},
    Derived{"IndexError", "LookupError"},
    Derived{"ValueError", "Exception"},
    Derived{"UnicodeError", "ValueError"},
    Derived{"UnicodeDecodeError", "UnicodeError"},
    Derived{"TypeError", "Exception"},
    Derived{"AttributeError", "Exception"},
    Derived{"NameError", "Exception"},
    Derived{"AssertionError", "Exception"},
    Derived{"ImportError", "Exception"},
    Derived{"ModuleNotFoundError", "ImportError"},
    Derived{"RuntimeError", "Exception"},
    Derived{"NotImplementedError", "RuntimeError"},
    Derived{"RecursionError", "RuntimeError"},
    Derived{"StopIteration", "Exception"},
    Derived{"StopAsyncIteration", "Exception"},
    Derived{"OSError", "Exception"},
    Derived{"FileNotFoundError", "OSError"},
    Derived{"FileExistsError", "OSError"},
    Derived{"PermissionError", "OSError"},
    Derived{"TimeoutError", "OSError"},
    Derived{"ConnectionError", "OSError"},
    Derived{"BrokenPipeError", "ConnectionError"},
    Derived{"MemoryError", "Exception"},
    Derived{"EOFError", "Exception"},
    Derived{"BufferError", "Exception"},
    Derived{"Warning", "Exception"},
    Derived{"UserWarning", "Warning"},
    Derived{"DeprecationWarning", "Warning"},
    Derived{"FutureWarning", "Warning"},
    Derived{"RuntimeWarning", "Warning"},
};
}  // namespace

std::string_view base_of(std::string_view exception) {
  for (const Derived& known : exceptions)
    if (known.name == exception) return known.base;
  return {};
}
bool is_exception(std::string_view name) { return name == "BaseException" || !base_of(name).empty(); }

}  // namespace stepzero::interpreter
