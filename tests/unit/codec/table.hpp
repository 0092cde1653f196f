// What the examples of codec say of the tables of fields: whether each member is named, and filled.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "fill.hpp"

namespace datum::test {

template <class T>
void check_table(const char* name, std::vector<std::string>& incomplete, std::size_t left_out = 0) {
  T value;
  Counter counter;
  Fields<T>::visit(counter, value);
  if (counter.count + left_out != members_of<T>())
    incomplete.push_back(std::string(name) + " has " + std::to_string(members_of<T>()) +
                         " members and " + std::to_string(counter.count) + " are named");
}

// Members of `filled` that are what they are in a new value.
template <class T>
void add_unfilled(const T& filled, std::vector<std::string>& unfilled) {
  auto ours = lines_of("", filled);
  auto defaults = lines_of("", T{});
  std::sort(ours.begin(), ours.end());
  std::sort(defaults.begin(), defaults.end());
  std::set_intersection(ours.begin(), ours.end(), defaults.begin(), defaults.end(),
                        std::back_inserter(unfilled));
}

}  // namespace datum::test
