// The frame decoder: every way to cut a stream into portions gives the same frames, and every broken header
// is refused.
#include "protocol/framing.hpp"

#include <catch2/catch.hpp>

using namespace stepzero::protocol;
using Payloads = std::vector<std::string>;

namespace {

Payloads in_portions(std::string_view stream, std::size_t size) {
  FrameDecoder decoder;
  Payloads payloads;
  for (; !stream.empty(); stream.remove_prefix(std::min(size, stream.size())))
    REQUIRE(decoder.feed(stream.substr(0, size), payloads));
  CHECK_FALSE(decoder.inside_frame());
  return payloads;
}

std::string error_of(std::string_view stream, std::size_t portion, FrameLimits limits = {}) {
  FrameDecoder decoder(limits);
  Payloads payloads;
  while (!stream.empty() && decoder.feed(stream.substr(0, portion), payloads))
    stream.remove_prefix(std::min(portion, stream.size()));
  CHECK(payloads.empty());
  return decoder.error();
}

}  // namespace

TEST_CASE("frames in any portions are the same frames") {
  const Payloads sent{R"({"a":1})", "", "äöü€🙂", std::string("nul\0inside", 10), std::string(100'000, 'x')};
  std::string stream;
  for (const std::string& payload : sent) stream += frame(payload);
  for (const std::size_t portion :
      {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}, std::size_t{4096}, stream.size()})
    CHECK(in_portions(stream, portion) == sent);
}

TEST_CASE("header names know no case, other fields are ignored") {
  for (const std::string header : {
           "content-length: 2\r\n\r\n",
           "CONTENT-LENGTH:2\r\n\r\n",
           "Content-Length: \t2 \r\n\r\n",
           "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n",
           "Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n",
           "Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=\"UTF-8\"\r\n\r\n",
           "Content-Length: 2\r\nContent-Type: application/json\r\n\r\n",
           "Content-Length: 0002\r\nX-Other: a: b\r\n\r\n",
       }) {
    CAPTURE(header);
    CHECK(in_portions(header + "{}", 1) == Payloads{"{}"});
    CHECK(in_portions(header + "{}" + header + "[]", 10'000) == Payloads{"{}", "[]"});
  }
}

TEST_CASE("a broken header is refused, however it arrives") {
  const std::pair<std::string, std::string> broken[] = {
      {"Content-Type: text/plain\r\n\r\n{}", "no Content-Length"},
      {"\r\n{}", "no Content-Length"},
      {"\r\n\r\n", "no Content-Length"},
      {"Content-Length: -2\r\n\r\n{}", "not a number"},
      {"Content-Length: +2\r\n\r\n{}", "not a number"},
      {"Content-Length: 0x2\r\n\r\n{}", "not a number"},
      {"Content-Length: 2 2\r\n\r\n{}", "not a number"},
      {"Content-Length: 2.0\r\n\r\n{}", "not a number"},
      {"Content-Length:\r\n\r\n{}", "not a number"},
      {"Content-Length: 18446744073709551618\r\n\r\n{}", "above the limit"},
      {"Content-Length: " + std::string(400, '9') + "\r\n\r\n", "above the limit"},
      {"Content-Length: 67108865\r\n\r\n", "above the limit"},
      {"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "twice"},
      {"Content-Length: 2\r\ncontent-length: 3\r\n\r\n{}", "twice"},
      {"Content-Length 2\r\n\r\n{}", "not a header field"},
      {": 2\r\n\r\n{}", "not a header field"},
      {"{\"jsonrpc\":\"2.0\"}\r\n\r\n", "not a header field"},
      {"Content-Length: 2\n\n{}", "CR LF"},
      {"Content-Length: 2\r\nContent-Type: a; charset=utf-16\r\n\r\n{}", "unknown charset"},
      {"X: " + std::string(8192, 'a') + "\r\nContent-Length: 2\r\n\r\n{}", "longer than 8192"},
      {std::string(100'000, 'a'), "longer than 8192"},
      {"Content-Length: 67108865", "above the limit"},
      {"Content-Length: 2\r\nContent-Length: -", "not a number"},
      {"{\"jsonrpc\"", "not a header field"},
      {"C\x8cntent: 2\r\nContent-Type: a", "not a header field"},
      {"X\r\nContent-Type: a", "not a header field"},
      {"X: a\nb: c\r\nContent-Length: 2\r\n\r\n{}", "CR LF"},
      {"X: a\r\nb: c\nd: e\r\nContent-Length: 2\r\n\r\n{}", "CR LF"},
      {"X: a\r\nb: c\nd", "CR LF"},
  };
  for (const auto& [stream, reason] : broken)
    for (const std::size_t portion : {std::size_t{1}, std::size_t{5}, stream.size()}) {
      CAPTURE(stream.substr(0, 100), portion);
      const std::string error = error_of(stream, portion);
      CHECK_THAT(error, Catch::Contains(reason));
      CHECK(error.find('\n') == std::string::npos);
    }
}

TEST_CASE("limits hold to the byte") {
  FrameLimits limits;
  limits.payload = 4;
  limits.header = 25;
  Payloads payloads;
  FrameDecoder good(limits);
  CHECK(good.feed("Content-Length: 00004\r\n\r\nabcd", payloads));  // 25 bytes of header
  CHECK(payloads == Payloads{"abcd"});
  CHECK_THAT(error_of("Content-Length: 5\r\n\r\n", 100, limits), Catch::Contains("above the limit of 4"));
  CHECK_THAT(error_of("Content-Length: 000004\r\n\r\n", 100, limits), Catch::Contains("longer than 25"));
}

TEST_CASE("nothing is taken after an error, frames before it are") {
  FrameDecoder decoder;
  Payloads payloads;
  CHECK_FALSE(decoder.feed(frame("1") + "oops\r\n\r\n" + frame("2"), payloads));
  CHECK_FALSE(decoder.feed(frame("3"), payloads));
  CHECK(payloads == Payloads{"1"});
}

TEST_CASE("an end of input inside a frame is seen") {
  const std::string stream = frame("{}");
  for (std::size_t size = 0; size <= stream.size(); ++size) {
    FrameDecoder decoder;
    Payloads payloads;
    decoder.feed(std::string_view(stream).substr(0, size), payloads);
    CHECK(decoder.inside_frame() == (size != 0 && size != stream.size()));
  }
}
