#include "server/features/schedule_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace stepzero::server {

using Json = nlohmann::ordered_json;
using snapshot::Communication;
using snapshot::ScheduleNode;
using Kind = ScheduleNode::Kind;

namespace {

class ScheduleJson {
public:
  ScheduleJson(const std::string& path, const PathName& name) : path_(path), name_(name) {}

  Json nodes(const std::vector<ScheduleNode>& nodes) const {
    Json made = Json::array();
    for (const ScheduleNode& node : nodes) made.push_back(one(node));
    return made;
  }

  // The line, and the path where it is another file's.
  void place(Json& json, const snapshot::Spot& spot) const {
    if (spot.line == 0) return;
    if (spot.path != path_) json["path"] = name_(spot.path);
    json["line"] = spot.line;
  }

private:
  static const char* name_of(Kind kind) {
    switch (kind) {
    case Kind::step: return "step";
    case Kind::loop: return "loop";
    case Kind::iteration: return "round";
    case Kind::choice: return "if";
    case Kind::handler: return "except";
    case Kind::hang: return "hang";
    case Kind::unmatched: return "unanswered";
    case Kind::unreached: return "unreached";
    }
    return "";
  }
  static const char* name_of(Communication::What what) {
    switch (what) {
    case Communication::What::collective: return "collective";
    case Communication::What::send: return "send";
    case Communication::What::receive: return "receive";
    case Communication::What::wait: return "wait";
    }
    return "";
  }

  Json call(const Communication& call) const {
    Json made = {{"kind", name_of(call.what)}, {"name", call.name}};
    place(made, call.where);
    if (call.what == Communication::What::wait) return with_callers(std::move(made), call);
    made["group"] = call.members;
    if (call.root) made[call.root_sends ? "src" : "dst"] = *call.root;
    if (call.peer) made["peer"] = *call.peer;
    if (call.peer) made["tag"] = call.tag;
    if (!call.made.empty()) made["makes"] = call.made;
    if (call.starts) made["async"] = true;
    if (call.bytes) made["bytes"] = call.bytes;
    if (!call.tensor.kind.empty()) {
      Json& shape = made["shape"];
      if (call.tensor.shape) {
        shape = Json::array();
        for (const auto& dim : *call.tensor.shape)
          shape.push_back(dim.is_int ? Json(dim.value) : Json(dim.text));
      }
      if (!call.tensor.dtype.empty()) made["dtype"] = call.tensor.dtype;
    }
    return with_callers(std::move(made), call);
  }
  Json with_callers(Json made, const Communication& call) const {
    Json callers = Json::array();
    for (const snapshot::Caller& caller : call.callers) {
      Json one = {{"function", caller.function}};
      if (caller.call.line > 0) {
        Json at = Json::object();
        place(at, caller.call);
        one["called"] = std::move(at);
      }
      callers.push_back(std::move(one));
    }
    if (!callers.empty()) made["callers"] = std::move(callers);
    return made;
  }

  // Ranks that do the same are told together.
  Json calls(const std::vector<Communication>& all) const {
    Json made = Json::array();
    for (const Communication& each : all) {
      const Json json = call(each);
      const auto same = std::find_if(
          made.begin(), made.end(), [&](const Json& other) { return other["call"] == json; });
      if (same != made.end())
        (*same)["ranks"].push_back(each.rank);
      else
        made.push_back({{"ranks", Json::array({each.rank})}, {"call", json}});
    }
    // {"ranks": …, "kind": …, …}
    Json flat = Json::array();
    for (const Json& each : made) {
      Json one = {{"ranks", each["ranks"]}};
      for (const auto& [key, value] : each["call"].items()) one[key] = value;
      flat.push_back(std::move(one));
    }
    return flat;
  }

  Json one(const ScheduleNode& node) const {
    Json made = {{"kind", name_of(node.kind)}};
    switch (node.kind) {
    case Kind::step:
      made["calls"] = calls(node.calls);
      if (!node.text.empty()) made["problem"] = node.text;
      if (!node.open.empty()) made["unknown"] = node.open;
      return made;
    case Kind::hang:
    case Kind::unmatched:
      if (node.kind == Kind::hang) made["certain"] = node.holds;
      made["waiting"] = calls(node.calls);
      made["ended"] = node.ended;
      return made;
    case Kind::loop:
      made["text"] = node.text;
      place(made, node.where);
      made["rounds"] = node.times ? Json(*node.times) : Json();
      break;
    case Kind::iteration:
      made["first"] = node.times.value_or(0);
      made["last"] = node.last;
      break;
    case Kind::choice:
      made["text"] = node.text;
      place(made, node.where);
      made["holds"] = node.holds;
      made["uniform"] = !node.local;
      break;
    case Kind::handler: place(made, node.where); break;
    case Kind::unreached: break;
    }
    made["steps"] = nodes(node.body);
    return made;
  }

  const std::string& path_;
  const PathName& name_;
};

}  // namespace

Json schedule_json(const snapshot::Schedule& schedule, const std::string& path, const PathName& name) {
  const ScheduleJson writer(path, name);
  Json parts = Json::array();
  for (const snapshot::SchedulePart& part : schedule.parts) {
    Json made = {{"function", part.function.empty() ? Json() : Json(part.function)}};
    writer.place(made, part.where);
    made["complete"] = part.complete;
    made["hangs"] = part.hangs;
    made["steps"] = writer.nodes(part.nodes);
    parts.push_back(std::move(made));
  }
  Json functions = Json::array();
  for (const snapshot::FunctionCommunication& function : schedule.functions) {
    Json made = {{"function", function.function}};
    writer.place(made, function.definition);
    made["summary"] = summary(function, schedule.world);
    functions.push_back(std::move(made));
  }
  Json made = {{"path", name(path)}};
  if (!schedule.launch.empty()) made["launch"] = schedule.launch;
  made["world"] = schedule.world;
  made["schedules"] = std::move(parts);
  made["functions"] = std::move(functions);
  return made;
}

}  // namespace stepzero::server
