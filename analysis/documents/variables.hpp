// The variables of a script of the shell. Only for the files of this floor.
#pragma once

#include "documents/shell.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::documents {

struct Variable {
  std::vector<Chars> items;  // one, or those of an array
  bool is_array = false;
  bool is_exported = false;
  bool by_default = false;  // holds where the environment does not say otherwise
  Span name_span;

  bool operator==(const Variable& other) const;
  void forget();  // nothing is known of its value
  // It is this or the other: what both begin with is known, and what one adds may be there.
  void meet(const Variable& other);
};

struct NamedVariable {
  std::string name;
  Variable variable;
};

// By name. Copies share what none of them changes: each branch of a script begins with one, and leaves most
// variables as they were.
class Variables {
  using Shared = std::shared_ptr<NamedVariable>;
  using List = std::vector<Shared>;  // in the order of the names

public:
  // Null if there is none. Stays valid until that variable is changed or erased.
  const Variable* find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  Variable* change(std::string_view name);
  // Made if there is none.
  Variable& operator[](std::string_view name);
  void erase(std::string_view name);

  // Are they certainly the same?
  bool shares_all(const Variables& other) const { return list_ == other.list_; }

  class Iterator {
  public:
    explicit Iterator(List::const_iterator at) : at_(at) {}
    const NamedVariable& operator*() const { return **at_; }
    Iterator& operator++() { return ++at_, *this; }
    friend bool operator==(const Iterator&, const Iterator&) = default;

  private:
    List::const_iterator at_;
  };
  Iterator begin() const { return Iterator(list_->begin()); }
  Iterator end() const { return Iterator(list_->end()); }

  // Calls `change` with those of which `wanted` is true.
  template <class Wanted, class Change> void change_where(const Wanted& wanted, const Change& change) {
    for (std::size_t i = 0; i < list_->size(); ++i)
      if (const NamedVariable& each = *(*list_)[i]; wanted(each)) change(own(i));
  }
  // The same beside the variable of that name in another list, null where it has none; what both share is
  // passed over.
  template <class Wanted, class Change>
  void change_beside(const Variables& other, const Wanted& wanted, const Change& change) {
    if (shares_all(other)) return;
    const std::shared_ptr<const List> theirs = other.list_;
    auto there = theirs->begin();
    for (std::size_t i = 0; i < list_->size(); ++i) {
      const NamedVariable& mine = *(*list_)[i];
      while (there != theirs->end() && there->get() != &mine && (*there)->name < mine.name) ++there;
      if (there != theirs->end() && there->get() == &mine) continue;
      const bool has = there != theirs->end() && (*there)->name == mine.name;
      const Variable* beside = has ? &(*there)->variable : nullptr;
      if (wanted(mine, beside)) change(mine.name, own(i), beside);
    }
  }
  // Of those that only the other list has, what `convert` makes of them is taken in.
  template <class Convert> void take_missing(const Variables& other, const Convert& convert) {
    if (shares_all(other)) return;
    std::vector<const NamedVariable*> missing;
    auto mine = list_->begin();
    for (const Shared& each : *other.list_) {
      while (mine != list_->end() && *mine != each && (*mine)->name < each->name) ++mine;
      if (mine == list_->end() || (*mine != each && (*mine)->name != each->name))
        missing.push_back(each.get());
    }
    for (const NamedVariable* each : missing) (*this)[each->name] = convert(each->variable);
  }

private:
  std::size_t place_of(std::string_view name) const;
  bool is_at(std::size_t place, std::string_view name) const {
    return place < list_->size() && (*list_)[place]->name == name;
  }
  List& own_list();
  Variable& own(std::size_t place);

  std::shared_ptr<List> list_ = std::make_shared<List>();
};

}  // namespace stepzero::documents
