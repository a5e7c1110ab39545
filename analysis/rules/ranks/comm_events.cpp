#include "rules/ranks/comm_events.hpp"

#include "interpreter/presumed_rank.hpp"
#include "rules/ranks/communication.hpp"
#include "rules/report.hpp"
#include "values/kept.hpp"
#include "values/kept_by_packages.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using symbolic::Answer;
using values::Kind;
using values::Operation;

namespace {

constexpr std::size_t most_comms = 1200;  // of one process

}  // namespace

void CommRecorder::become_uncertain() {
  if (!trace_.uncertain) trace_.certain_comms = trace_.comms.size();
  trace_.uncertain = true;
}

// Of one of two values, the one of this run.
Value CommRecorder::chosen(Value value, std::string* where) const {
  for (int depth = 0; value.is(Kind::choice) && depth <= values::most_choices; ++depth) {
    const auto& choice = *value.as<values::Choice>();
    const Answer answer = decide_(choice.condition);
    if (answer == Answer::unknown) return {};
    if (where && symbols_.form(choice.condition) != symbolic::Context::Form::constant)
      *where += (where->empty() ? "" : " and ") +
          symbols_.text(answer == Answer::yes ? choice.condition : symbols_.logical_not(choice.condition));
    value = answer == Answer::yes ? choice.yes : choice.no;
  }
  return value;
}

std::optional<std::int64_t> CommRecorder::number(Value value, std::string* where) const {
  value = chosen(value, where);
  if (!value.is(Kind::integer)) return std::nullopt;
  return symbols_.value(value.integer());
}

void CommRecorder::describe(CommEvent& comm, const values::TensorState* state) const {
  if (!state || state->poisoned) return;
  comm.tensor = state;
  comm.dtype = state->dtype;
  if (!state->shape.ndim_known) return;
  std::int64_t all = 1;
  for (const values::Dim& dim : state->shape.dims) {
    const auto size = dim.size ? symbols_.value(dim.size) : std::nullopt;
    if (!size || *size < 0 || (*size > 0 && all > (std::int64_t{1} << 40) / *size)) return;
    all *= *size;
  }
  comm.elements = all;
}

// The group, if it is known; else false.
bool CommRecorder::group_of(Value group, CommEvent& comm) {
  const auto whole = [&] {
    comm.group = world_group;
    for (int rank = 0; rank < world_; ++rank) comm.members.push_back(rank);
    return true;
  };
  if (!group || group.is(Kind::none)) return whole();
  group = chosen(group);
  if (group.is(Kind::none)) return whole();
  // A group that is asked for whether it is given is not the default one where it is.
  if (group.is(Kind::unknown) && (group.as<values::Unknown>()->truth || group.as<values::Unknown>()->is_none))
    return false;
  if (default_groups && group.is(Kind::unknown)) {
    const auto& unknown = *group.as<values::Unknown>();
    const bool may_be_default = unknown.default_value.is(Kind::none);
    // Of one that is asked for the rank among its members these are compared.
    if (may_be_default || unknown.attributes.find(values::Name(values::UnseenGroupState::own))) {
      trace_.supposed.insert(may_be_default ? interpreter::is_default_group(unknown.name)
                                            : interpreter::is_shared_group(unknown.name));
      return whole();
    }
  }
  if (!group.is(Kind::instance)) return false;
  const auto* object = group.as<values::Instance>();
  const auto known = groups_.find(object);
  if (known != groups_.end()) {
    comm.group = known->second.first;
    comm.members = known->second.second;
    return true;
  }
  if (object->attributes.value(values::Name(values::GroupState::all))) return whole();
  const Value ranks = object->attributes.value(values::Name(values::GroupState::ranks));
  if (!ranks.is(Kind::tuple)) return false;
  comm.group = "group";
  for (const Value& item : ranks.as<values::Tuple>()->items) {
    comm.members.push_back(static_cast<int>(number(item).value_or(-1)));
    comm.group += " " + std::to_string(comm.members.back());
  }
  return true;
}

bool CommRecorder::add(const OperationEvent& event, const std::vector<std::size_t>& turns,
    const std::vector<Iteration>& iterations) {
  if (trace_.comms.size() >= most_comms) return false;
  CommEvent made;
  made.event = &event;
  made.place = runs_.translate(own_, event.place);
  made.calls = runs_.translate(own_, event.calls);
  made.own_calls = event.calls;
  made.site = runs_.site(own_, event.place, event.calls);
  made.turns = turns;
  made.iterations = iterations;
  made.decided = trace_.decisions.size();
  const bool expected = event.expected && communicates_if_reached(event);
  const bool unseen = event.row->operation == Operation::unseen_communication;
  if (expected || unseen || may_be_held_back(event))
    trace_.perhaps.push_back({trace_.comms.size(), made.site});
  if (expected || unseen) return true;
  if (event.row->operation == Operation::slow) {
    work(event, made);
  } else if (event.row->operation == Operation::group_settings) {
    note_limit(event, std::string(world_group));
  } else if (event.row->operation == Operation::await) {
    made.what = CommEvent::What::await;
    made.name = "wait";
    made.request = event.self.object();
    if (event.self.is(Kind::instance)) trace_.comms.push_back(std::move(made));
  } else if (event.row->operation == Operation::message) {
    message(event, *event.row->message, std::move(made));
  } else if (event.row->operation == Operation::backward) {
    for (const values::Instance* module : modules_that_send(event)) {
      made.module = module;
      collective(event, *module->native->row->backward,
          module->attributes.value(values::Name(values::GroupState::group)), made);
    }
  } else {
    const values::CollectiveInfo& info = *event.row->collective;
    if (info.only_if >= 0 && symbols_.decide(argument_at(event, info.only_if).condition()) != Answer::yes)
      return true;
    const bool of_module = info.group < 0 && event.self.is(Kind::instance);
    collective(event, info,
        of_module
            ? event.self.as<values::Instance>()->attributes.value(values::Name(values::GroupState::group))
            : argument_at(event, info.group),
        std::move(made));
  }
  return true;
}

void CommRecorder::collective(
    const OperationEvent& event, const values::CollectiveInfo& info, Value group, CommEvent made) {
  made.info = &info;
  made.name = info.name;
  if (!group_of(group, made)) return;  // of a group that is not known: no rank is told to wait
  if (info.root >= 0) made.root = number(argument_at(event, info.root), &made.root_where);
  if (info.group_root >= 0)
    if (const auto place = number(argument_at(event, info.group_root));
        place && *place >= 0 && *place < static_cast<std::int64_t>(made.members.size()))
      made.root = made.members[static_cast<std::size_t>(*place)];
  if (made.root && (*made.root < 0 || *made.root >= world_)) trace_.impossible = true;
  if (info.tensor >= 0) describe(made, event.argument_state(static_cast<std::size_t>(info.tensor)));
  list_of(event, info, made);
  made.gives = rows_for_each(event, info.sent_rows, info.sent);
  made.takes = rows_for_each(event, info.received_rows, info.received);
  // Made for a job of another size.
  for (const auto* parts : {&made.gives, &made.takes})
    if (!parts->empty() && parts->size() != made.members.size()) trace_.impossible = true;
  if (argument_at(event, info.objects).is(Kind::list))
    if (const auto* state = event.list_state(static_cast<std::size_t>(info.objects)); state && !state->open)
      made.objects = static_cast<std::int64_t>(state->items.size());
  if (info.async >= 0 && event.result.is(Kind::instance)) {
    made.starts = true;
    made.request = event.result.object();
  }
  if (info.makes_group && event.result.is(Kind::instance)) {
    made.makes_group = true;
    const auto* object = event.result.as<values::Instance>();
    CommEvent own;
    if (group_of(event.result, own)) {
      made.made = own.members;
      const std::string text = own.group == world_group ? "all" : own.group;
      groups_[object] = {text + " #" + std::to_string(groups_made_[text]++), own.members};
      note_limit(event, groups_[object].first);
      for (const int member : own.members)
        if (member < 0 || member >= world_) trace_.impossible = true;  // made for another world
    }
  }
  if (const Value local = argument_at(event, info.local);
      local && !(local.is(Kind::boolean) && symbols_.decide(local.condition()) == Answer::no))
    return;
  trace_.comms.push_back(std::move(made));
}

std::optional<double> CommRecorder::seconds(Value duration) const {
  duration = chosen(duration);
  if (duration.is(Kind::real)) return duration.real();
  if (duration.is(Kind::instance))
    return seconds(
        duration.as<values::Instance>()->attributes.value(values::Name(values::ParserState::seconds)));
  if (const auto whole = number(duration)) return static_cast<double>(*whole);
  return std::nullopt;
}

void CommRecorder::work(const OperationEvent& event, const CommEvent& made) {
  trace_.works.push_back(
      {made.site, made.place, made.calls, trace_.comms.size(), seconds(argument_at(event, 0))});
}

void CommRecorder::note_limit(const OperationEvent& event, const std::string& group) {
  if (const Value limit = argument(event, "timeout"); limit && !limit.is(Kind::none))
    trace_.limits[group] = seconds(limit);
}

// How many rows of the tensor are for each rank, if that is given as a list and known; none where they are
// not all of its rows, which fails on that rank alone.
std::vector<std::int64_t> CommRecorder::rows_for_each(const OperationEvent& event, int parts, int of) const {
  if (!argument_at(event, parts).is(Kind::list)) return {};
  const auto* state = event.list_state(static_cast<std::size_t>(parts));
  if (!state || state->open) return {};
  std::vector<std::int64_t> rows;
  std::int64_t all = 0;
  for (const Value& item : state->items) {
    const auto part = number(item);
    if (!part) return {};
    rows.push_back(*part);
    all += *part;
  }
  const auto* whole = of < 0 ? nullptr : event.argument_state(static_cast<std::size_t>(of));
  if (!whole || !whole->shape.ndim_known || whole->shape.dims.empty() || !whole->shape.dims[0].size)
    return rows;
  const auto known = symbols_.value(whole->shape.dims[0].size);
  return known && *known != all ? std::vector<std::int64_t>{} : rows;
}

// The list with one item for each rank, or the tensor with one part for each.
void CommRecorder::list_of(
    const OperationEvent& event, const values::CollectiveInfo& info, CommEvent& made) const {
  if (const auto* parts = info.list >= 0 && argument_at(event, info.list).is(Kind::tensor)
          ? event.argument_state(static_cast<std::size_t>(info.list))
          : nullptr) {
    CommEvent all;
    describe(all, parts);
    made.joined = all.elements;
  }
  // Who needs a list and gives none fails.
  if (info.list >= 0 && argument_at(event, info.list).is(Kind::none)) made.list_length = 0;
  if (!argument_at(event, info.list).is(Kind::list)) return;
  if (const auto* state = event.list_state(static_cast<std::size_t>(info.list)); state && !state->open) {
    made.list_length = static_cast<std::int64_t>(state->items.size());
    // `[buffer] * world_size` is one buffer.
    const auto same = [&](const Value& item) {
      return item.is(Kind::tensor) && item.object() == state->items.front().object();
    };
    made.one_for_all = state->items.size() > 1 && info.fills_list &&
        std::all_of(state->items.begin(), state->items.end(), same);
    constexpr std::int64_t not_known = -1;
    std::int64_t all = not_known;
    for (const Value& item : state->items) {
      CommEvent each;
      if (item.is(Kind::tensor)) describe(each, item.as<values::Tensor>()->now());
      const std::int64_t elements = each.elements.value_or(not_known);
      made.list_even = made.list_even && elements != not_known && (all == not_known || all == elements);
      all = elements;
    }
  } else {
    made.list_even = false;
  }
}

void CommRecorder::message(const OperationEvent& event, const values::MessageInfo& info, CommEvent made) {
  if (info.batch >= 0) {
    const Value results = event.result;
    const auto* listed = event.list_state(static_cast<std::size_t>(info.batch));
    if (!listed || listed->open || !results.is(Kind::list)) {
      become_uncertain();
      return;
    }
    const auto& items = listed->items;
    const auto& requests = values::Heap::list_state(results)->items;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Value item = items[i];
      if (!item.is(Kind::instance) || i >= requests.size()) {
        become_uncertain();
        return;
      }
      const auto& object = *item.as<values::Instance>();
      const Value what = object.attributes.value(values::Name("op"));
      const values::Row* row = what.is(Kind::library) ? what.as<values::LibrarySymbol>()->row : nullptr;
      if (!row || !row->message) {
        become_uncertain();
        return;
      }
      CommEvent one = made;
      if (object.born) one.place = runs_.translate(own_, object.born);
      one.what = row->message->sends ? CommEvent::What::send : CommEvent::What::receive;
      one.name = row->message->name;
      one.starts = true;
      one.request = requests[i].object();
      const Value tensor = object.attributes.value(values::Name("tensor"));
      if (tensor.is(Kind::tensor)) describe(one, tensor.as<values::Tensor>()->now());
      send_or_receive(std::move(one), object.attributes.value(values::Name("peer")),
          object.attributes.value(values::Name("tag")), object.attributes.value(values::Name("group")),
          object.attributes.value(values::Name("group_peer")));
    }
    return;
  }
  made.what = info.sends ? CommEvent::What::send : CommEvent::What::receive;
  made.name = info.name;
  made.starts = info.starts;
  if (made.starts) made.request = event.result.object();
  if (info.tensor >= 0) describe(made, event.argument_state(static_cast<std::size_t>(info.tensor)));
  send_or_receive(std::move(made), argument_at(event, info.peer), argument_at(event, info.tag),
      argument_at(event, info.group), argument_at(event, info.group_peer));
}

void CommRecorder::send_or_receive(CommEvent made, Value peer, Value tag, Value group, Value group_peer) {
  CommEvent in;
  if (!group_of(group, in)) {
    become_uncertain();
    return;
  }
  made.group = in.group;
  made.members = in.members;
  auto other = number(peer);
  if (const auto place = number(group_peer);
      place && *place >= 0 && *place < static_cast<std::int64_t>(in.members.size()))
    other = in.members[static_cast<std::size_t>(*place)];
  const auto number_of_tag = tag ? number(tag) : std::optional<std::int64_t>(0);
  if (!other || !number_of_tag) {
    become_uncertain();  // any source
    return;
  }
  if (*other < 0) {
    made.peer = static_cast<int>(*other);
    trace_.nowhere = std::move(made);
    return;
  }
  if (*other >= world_) {
    trace_.impossible = true;
    return;
  }
  made.peer = static_cast<int>(*other);
  made.tag = *number_of_tag;
  trace_.comms.push_back(std::move(made));
}

}  // namespace stepzero::rules
