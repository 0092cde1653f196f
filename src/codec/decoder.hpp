// Cap'n Proto readers into values, by the tables of fields. Everything is copied and checked; the
// first thing that is wrong is remembered by its name and the rest is read without harm. Damaged
// pointers are exceptions of the library, which message.hpp ends.
#pragma once

#include <capnp/list.h>

#include <utility>

#include "enumerations.hpp"
#include "shapes.hpp"

namespace datum::codec {

// What was wrong first: names of constant life, empty if nothing was; and how many elements may
// still come. Each struct in a list was written with at least a word, but the library also takes a
// list of bytes for one of structs, and would make a large value of every byte.
struct Problem {
  std::string_view field;
  std::string_view what;
  std::size_t elements_left = 0;

  void note(std::string_view name, std::string_view is) {
    if (!what.empty()) return;
    field = name;
    what = is;
  }
  [[nodiscard]] bool take(std::string_view name, std::size_t elements) {
    if (elements <= elements_left) {
      elements_left -= elements;
      return true;
    }
    note(name, "more elements than it has room for");
    return false;
  }
  [[nodiscard]] bool any() const { return !what.empty(); }
};

template <class Reader>
class Decoder {
 public:
  Decoder(Reader at, Problem& problem) : at_(at), problem_(problem) {}

  template <class T, class At>
  void field(std::string_view name, T& value, At at) {
    if constexpr (IsOptional<T>) {
      if (at(Do<Access::has>{}, at_))
        field(name, value.emplace(), at);
      else
        value.reset();
    } else if constexpr (IsStruct<T>) {
      structure(at(Do<Access::get>{}, at_), value);
    } else if constexpr (IsList<T>) {
      const auto list = at(Do<Access::get>{}, at_);
      if constexpr (IsStruct<typename T::value_type>)
        if (!problem_.take(name, list.size())) return;
      value.resize(list.size());
      for (unsigned i = 0; i < list.size(); ++i) element(name, list[i], value[i]);
    } else if constexpr (IsMap<T>) {
      value.clear();
      const auto list = at(Do<Access::get>{}, at_);
      if (!problem_.take(name, list.size())) return;
      for (const auto entry : list) add_entry(name, entry, value);
    } else {
      leaf(name, at(Do<Access::get>{}, at_), value);
    }
  }
  template <class At>
  void flags(std::string_view name, std::uint32_t& value, At at) {
    field(name, value, at);
  }

 private:
  template <class From, class T>
  void structure(From from, T& value) {
    Decoder<From> inner(from, problem_);
    Fields<T>::visit(inner, value);
  }
  template <class Stored, class T>
  void element(std::string_view name, Stored stored, T& value) {
    if constexpr (IsStruct<T>)
      structure(stored, value);
    else
      leaf(name, stored, value);
  }
  // Keys must ascend, as they were written: there is one encoding of a map.
  template <class Entry, class K, class V>
  void add_entry(std::string_view name, Entry entry, std::map<K, V>& map) {
    std::pair<K, V> each{};
    Decoder<Entry> inner(entry, problem_);
    inner.field(name, each.first, DATUM_ACCESS(Key));
    inner.field(name, each.second, DATUM_ACCESS(Value));
    if (!map.empty() && !(std::prev(map.end())->first < each.first))
      problem_.note(name, "keys do not ascend");
    map.emplace_hint(map.end(), std::move(each));
  }
  template <class Stored, class T>
  void leaf(std::string_view name, Stored stored, T& value) {
    if constexpr (IsText<T>) {
      value = T(std::string_view(stored.begin(), stored.size()));
    } else if constexpr (IsBytes<T>) {
      const auto* begin = reinterpret_cast<const std::byte*>(stored.begin());
      value.assign(begin, begin + stored.size());
    } else if constexpr (IsFixed<T>) {
      if (stored.size() == T::kSize)
        std::copy(stored.begin(), stored.end(), value.bytes.begin());
      else if (stored.size() == 0)
        value = T{};
      else
        problem_.note(name, "an id or digest of another length");
    } else if constexpr (IsTime<T>) {
      value.ns = stored;
    } else if constexpr (IsNumber<T>) {
      value = stored;
    } else {
      enumeration(name, static_cast<std::uint16_t>(stored), value);
    }
  }
  template <IsEnumeration T>
  void enumeration(std::string_view name, std::uint16_t stored, T& value) {
    if constexpr (std::same_as<T, ErrorCode>) {
      const auto code = find_error_code(stored);
      if (code) value = *code;
      if (!code) problem_.note(name, "an unknown error code");
    } else {
      constexpr std::uint16_t kLargest = 255;  // all are 8 bits wide
      if (stored <= kLargest && is_known(static_cast<T>(stored)))
        value = static_cast<T>(stored);
      else
        problem_.note(name, "a number outside its enumeration");
    }
  }

  Reader at_;
  Problem& problem_;
};

// Reads a whole struct of a message of so many words into `value`, of which nothing is left but the
// memory it has. `corrupt`, naming the field, unless all of it fits; then `value` is worthless.
template <class T, class Reader>
[[nodiscard]] Status decode_fields_into(Reader at, std::size_t words, std::string_view what,
                                        T& value) {
  Problem problem;
  problem.elements_left = words;
  Decoder<Reader> decoder(at, problem);
  Fields<T>::visit(decoder, value);
  if (problem.any())
    return fail(ErrorCode::corrupt, std::string(what) + ": " + std::string(problem.field) + ": " +
                                        std::string(problem.what));
  return {};
}
template <class T, class Reader>
[[nodiscard]] Result<T> decode_fields(Reader at, std::size_t words, std::string_view what) {
  T value;
  DATUM_TRY(decode_fields_into(at, words, what, value));
  return value;
}

}  // namespace datum::codec
