// Any bytes from a client: the frame decoder gives the same payloads however the bytes are cut, and what
// JSON-RPC and the types of LSP make of each payload is a message or an error, never a crash. What is
// understood can be written and is then understood again.
#include "protocol/any.hpp"
#include "protocol/codec.hpp"
#include "protocol/framing.hpp"
#include "protocol/json_rpc.hpp"
#include "protocol/lsp/methods.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

using namespace stepzero::protocol;
namespace method = stepzero::lsp::method;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// Decodes the parameters as those of `method` if they are; what was decoded can be encoded and decoded again.
template <class Method> void read_as(const Method& method, std::string_view name, const Any& params) {
  using Params = typename Method::Params;
  if (method.name != name) return;
  Params decoded{};
  try {
    Codec<Params>::read(params.json(), decoded);
  } catch (const DecodeError&) {
    return;
  }
  Json written;
  Codec<Params>::write(written, decoded);
  Params again{};
  Codec<Params>::read(written, again);
}

void read_params(std::string_view name, const Any& params) {
  read_as(method::initialize, name, params);
  read_as(method::did_open, name, params);
  read_as(method::did_change, name, params);
  read_as(method::did_close, name, params);
  read_as(method::did_change_notebook, name, params);
  read_as(method::code_action, name, params);
  read_as(method::hover, name, params);
  read_as(method::inlay_hint, name, params);
}

void read_message(const std::string& payload) {
  const Message message = parse_message(payload);
  if (const auto* request = std::get_if<Request>(&message)) {
    read_params(request->method, request->params);
    const auto write = [&](Json& out) { out = request->params.json(); };
    const bool structured = request->params.present() && request->params.json().is_structured();
    const std::string text = request_text(request->id, request->method, structured ? Write(write) : Write());
    const Message again = parse_message(text);
    const auto* second = std::get_if<Request>(&again);
    require(second != nullptr && second->id == request->id && second->method == request->method);
  } else if (const auto* notification = std::get_if<Notification>(&message)) {
    read_params(notification->method, notification->params);
  } else if (const auto* malformed = std::get_if<Malformed>(&message)) {
    const Message answer = parse_message(error_text(malformed->id, malformed->error));
    require(std::holds_alternative<Response>(answer) == malformed->id.has_value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t step = data[0] % 16 + std::size_t{1};  // how the second decoder gets its bytes
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const FrameLimits limits{1 << 20, 256};

  FrameDecoder whole(limits), cut(limits);
  std::vector<std::string> payloads, same;
  const bool good = whole.feed(bytes, payloads);
  for (std::size_t at = 0; at < bytes.size(); at += step)
    if (!cut.feed(bytes.substr(at, step), same)) break;
  require(payloads == same);
  require(good == !whole.broken() && whole.broken() == cut.broken());
  require(good || !whole.error().empty());
  if (good) require(whole.inside_frame() == cut.inside_frame());

  for (const std::string& payload : payloads) {
    read_message(payload);
    FrameDecoder decoder;
    std::vector<std::string> back;
    require(decoder.feed(frame(payload), back) && back.size() == 1 && back[0] == payload &&
        !decoder.inside_frame());
  }
  read_message(std::string(bytes));
  return 0;
}
