#include "documents/variables.hpp"

#include <algorithm>

namespace stepzero::documents {

std::size_t Variables::place_of(std::string_view name) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(*list_, name, {},
                                      [](const Shared& each) -> std::string_view { return each->name; }) -
      list_->begin());
}

Variables::List& Variables::own_list() {
  if (list_.use_count() > 1) list_ = std::make_shared<List>(*list_);
  return *list_;
}

Variable& Variables::own(std::size_t place) {
  Shared& held = own_list()[place];
  if (held.use_count() > 1) held = std::make_shared<NamedVariable>(*held);
  return held->variable;
}

const Variable* Variables::find(std::string_view name) const {
  const std::size_t place = place_of(name);
  return is_at(place, name) ? &(*list_)[place]->variable : nullptr;
}

Variable* Variables::change(std::string_view name) {
  const std::size_t place = place_of(name);
  return is_at(place, name) ? &own(place) : nullptr;
}

Variable& Variables::operator[](std::string_view name) {
  const std::size_t place = place_of(name);
  if (!is_at(place, name)) {
    List& list = own_list();
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(place),
        std::make_shared<NamedVariable>(std::string(name), Variable()));
  }
  return own(place);
}

void Variables::erase(std::string_view name) {
  const std::size_t place = place_of(name);
  if (!is_at(place, name)) return;
  List& list = own_list();
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(place));
}

}  // namespace stepzero::documents
