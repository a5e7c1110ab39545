// What kind of message a text is; that no text does harm.
#include "protocol/json_rpc.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace stepzero::protocol;

namespace {

Malformed malformed(std::string_view text) {
  Message message = parse_message(text);
  CAPTURE(text.substr(0, 100));
  REQUIRE(std::holds_alternative<Malformed>(message));
  CHECK_FALSE(std::get<Malformed>(message).error.message.empty());
  return std::get<Malformed>(message);
}

template <class Kind> Kind parsed(std::string_view text) {
  Message message = parse_message(text);
  CAPTURE(text);
  REQUIRE(std::holds_alternative<Kind>(message));
  return std::get<Kind>(std::move(message));
}

}  // namespace

TEST_CASE("requests, notifications and responses are told apart") {
  const auto request = parsed<Request>(R"({"jsonrpc":"2.0","id":7,"method":"m","params":{"a":1}})");
  CHECK(request.id == Id(std::int64_t{7}));
  CHECK(request.method == "m");
  CHECK(request.params.json() == Json{{"a", 1}});
  CHECK(parsed<Request>(R"({"jsonrpc":"2.0","id":"7","method":"m"})").id == Id("7"));
  CHECK(parsed<Request>(R"({"jsonrpc":"2.0","id":"","method":""})").id == Id(""));
  CHECK_FALSE(parsed<Notification>(R"({"jsonrpc":"2.0","method":"m"})").params.present());
  CHECK(parsed<Notification>(R"({"jsonrpc":"2.0","method":"m","params":null})").params.present());
  CHECK(std::get<Any>(parsed<Response>(R"({"jsonrpc":"2.0","id":1,"result":null})").outcome).present());
  const auto failed = parsed<Response>(
      R"({"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"no","data":[1]}})");
  CHECK(std::get<Error>(failed.outcome).code == error_code::request_cancelled);
  CHECK(std::get<Error>(failed.outcome).message == "no");
  CHECK(std::get<Error>(failed.outcome).data.dump() == "[1]");
}

TEST_CASE("a response nobody can take is for the log, not for an answer") {
  for (const char* text : {R"({"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}})",
           R"({"jsonrpc":"2.0","result":1})", R"({"jsonrpc":"2.0","id":1,"error":null})"})
    parsed<Unusable>(text);
}

TEST_CASE("what is no JSON is a parse error with id null") {
  for (const std::string_view text : {R"({"jsonrpc":"2.0","id":1,)", "", "   ", "{} {}", "{'a':1}", "[1,]",
           "NaN", "\xff\xfe", "{\"a\":\"\xed\xa0\x80\"}", "{\"a\":\"\xc0\xaf\"}", "[1e400]"}) {
    const Malformed answer = malformed(text);
    CHECK(answer.error.code == error_code::parse_error);
    CHECK_FALSE(answer.id);
  }
  CHECK(malformed(std::string_view("\0\0", 2)).error.code == error_code::parse_error);
}

TEST_CASE("batches and invalid requests are refused, under their id if it is one") {
  for (const char* text :
      {"[]", R"([{"jsonrpc":"2.0","id":1,"method":"m"}])", "1", "null", "true", R"("m")", "{}",
          R"({"jsonrpc":"2.0","id":true,"method":"m"})", R"({"jsonrpc":"2.0","id":1.5,"method":"m"})",
          R"({"jsonrpc":"2.0","id":{},"method":"m"})", R"({"jsonrpc":"2.0","id":null,"method":"m"})",
          R"({"jsonrpc":"2.0","id":18446744073709551615,"method":"m"})", R"({"jsonrpc":"2.0","method":1})"}) {
    const Malformed answer = malformed(text);
    CHECK(answer.error.code == error_code::invalid_request);
    CHECK_FALSE(answer.id);
  }
  for (const char* text :
      {R"({"id":"x","method":"m"})", R"({"jsonrpc":"1.0","id":"x","method":"m"})",
          R"({"jsonrpc":2.0,"id":"x","method":"m"})", R"({"jsonrpc":"2.0","id":"x"})",
          R"({"jsonrpc":"2.0","id":"x","method":1})", R"({"jsonrpc":"2.0","id":"x","method":"m","params":1})",
          R"({"jsonrpc":"2.0","id":"x","method":"m","params":"p"})"}) {
    const Malformed answer = malformed(text);
    CHECK(answer.error.code == error_code::invalid_request);
    CHECK(answer.id == Id("x"));
  }
}

TEST_CASE("nesting beyond the limit is refused, up to it is taken") {
  const auto nested = [](std::size_t depth, const char* open, const char* close) {
    std::string text = R"({"jsonrpc":"2.0","method":"m","params":)";
    for (std::size_t i = 0; i < depth; ++i) text += open;
    text += '1';
    for (std::size_t i = 0; i < depth; ++i) text += close;
    return text + "}";
  };
  parsed<Notification>(nested(max_depth - 1, "[", "]"));
  parsed<Notification>(nested(max_depth - 1, "{\"a\":", "}"));
  for (const std::size_t depth : {max_depth, std::size_t{10'000}, std::size_t{1'000'000}}) {
    CHECK(malformed(nested(depth, "[", "]")).error.code == error_code::parse_error);
    CHECK(malformed(nested(depth, "{\"a\":", "}")).error.code == error_code::parse_error);
  }
  CHECK(malformed(std::string(10'000, '[')).error.code == error_code::parse_error);
}

TEST_CASE("a lone surrogate becomes one replacement character, pairs stay") {
  const auto text = [](const std::string& escaped) {
    return parsed<Notification>(R"({"jsonrpc":"2.0","method":"m","params":[")" + escaped + R"("]})")
        .params.json()[0]
        .get<std::string>();
  };
  const std::string r = "\xef\xbf\xbd";
  CHECK(text(R"(a\ud83d b)") == "a" + r + " b");
  CHECK(text(R"(\uDC00\uD83D)") == r + r);
  CHECK(text(R"(\ud83d\ud83d\ude42)") == r + "🙂");
  CHECK(text(R"(\ud83d\ude42)") == "🙂");
  CHECK(text(R"(\\ud83d \ud83d)") == R"(\ud83d )" + r);  // an escaped backslash before "ud83d"
  CHECK(text(R"(\u0000)") == std::string(1, '\0'));
}

TEST_CASE("a byte order mark before a message does no harm") {
  parsed<Notification>("\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"method\":\"m\"}");
}

TEST_CASE("texts are valid whatever they carry, ids are echoed in kind") {
  const auto text = [](const Json& value) { return [value](Json& out) { out = value; }; };
  CHECK(result_text(Id(std::int64_t{-3}), text(nullptr)) == R"({"id":-3,"jsonrpc":"2.0","result":null})");
  CHECK(result_text(Id("-3"), {}) == R"({"id":"-3","jsonrpc":"2.0","result":null})");
  CHECK(notification_text("m", {}) == R"({"jsonrpc":"2.0","method":"m"})");
  CHECK(request_text(Id("a"), "m", text(Json::array({1}))) ==
      R"({"id":"a","jsonrpc":"2.0","method":"m","params":[1]})");
  CHECK(error_text({}, {error_code::parse_error, "bad", {}}) ==
      R"({"error":{"code":-32700,"message":"bad"},"id":null,"jsonrpc":"2.0"})");
  CHECK(
      result_text(Id("a"), text("\xff")) == "{\"id\":\"a\",\"jsonrpc\":\"2.0\",\"result\":\"\xef\xbf\xbd\"}");
}
