// Visitors over codec's tables of fields, for examples: one fills members, one counts them, one
// looks for those that still have their default.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "enumerations.hpp"
#include "shapes.hpp"

namespace datum::test {

using namespace codec;

[[nodiscard]] inline std::uint64_t hash_of(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char letter : text)
    value = (value ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return value;
}

class Filler {
 public:
  explicit Filler(std::string path) : path_(std::move(path)) {}

  template <class T, class At>
  void field(std::string_view name, T& value, At) {
    fill(path_ + "." + std::string(name), value);
  }
  template <class At>
  void flags(std::string_view, std::uint32_t& value, At) {
    value = 0b1'0000'0010'0101;
  }

  template <class T>
  static void fill(const std::string& path, T& value) {
    if constexpr (std::same_as<T, bool>) {
      value = !value;
    } else if constexpr (IsText<T>) {
      value = "text of " + path;
    } else if constexpr (IsFixed<T>) {
      for (std::size_t i = 0; i < value.bytes.size(); ++i)
        value.bytes[i] = static_cast<std::uint8_t>(hash_of(path) >> (i % 8 * 8)) | 1;
    } else if constexpr (IsBytes<T>) {
      value = to_bytes("bytes of " + path);
    } else if constexpr (IsTime<T>) {
      value.ns = static_cast<std::int64_t>(hash_of(path) >> 3);
    } else if constexpr (IsNumber<T>) {
      value = static_cast<T>(hash_of(path) >> 5 | 1);
    } else if constexpr (IsEnumeration<T>) {
      value = another(path, value);
    } else if constexpr (IsOptional<T>) {
      fill(path, value.emplace());
    } else if constexpr (IsList<T>) {
      value.resize(2);
      for (std::size_t i = 0; i < 2; ++i) fill(path + std::to_string(i), value[i]);
    } else if constexpr (IsMap<T>) {
      for (const auto* which : {"0", "1", "2"}) {
        typename T::key_type key{};
        fill(path + which + ".key", key);
        fill(path + which, value[key]);
      }
    } else {
      Filler inner(path);
      Fields<T>::visit(inner, value);
    }
  }

 private:
  // Types that came after the golden bytes were written: an example keeps the value that it has.
  static bool is_of_goldens(model::ResourceType type) {
    return type <= model::ResourceType::sysctl;
  }
  static bool is_of_goldens(model::TargetFamily family) {
    return family <= model::TargetFamily::sysctl;
  }
  static bool is_of_goldens(core::LinkCause cause) { return cause <= core::LinkCause::by_person; }
  template <class T>
  static bool is_of_goldens(T) {
    return true;
  }

  template <class T>
  static T another(const std::string& path, T value) {
    std::vector<T> others;
    for (int number = 0; number < 256; ++number) {
      const auto each = static_cast<T>(number);
      if constexpr (std::same_as<T, ErrorCode>) {
        if (each != value && number <= static_cast<int>(ErrorCode::internal))
          others.push_back(each);
      } else {
        if (each != value && is_known(each) && is_of_goldens(each)) others.push_back(each);
      }
    }
    return others.at(hash_of(path) % others.size());
  }

  std::string path_;
};

struct Counter {
  std::size_t count = 0;
  template <class T, class At>
  void field(std::string_view, T&, At) {
    ++count;
  }
  template <class At>
  void flags(std::string_view, std::uint32_t&, At) {
    ++count;
  }
};

// Every leaf as a line "path=value"; containers add their size.
class Dumper {
 public:
  Dumper(std::string path, std::vector<std::string>& lines)
      : path_(std::move(path)), lines_(lines) {}

  template <class T, class At>
  void field(std::string_view name, const T& value, At) {
    show(path_ + "." + std::string(name), value);
  }
  template <class At>
  void flags(std::string_view name, const std::uint32_t& value, At at) {
    field(name, value, at);
  }

 private:
  template <class T>
  void show(const std::string& path, const T& value) {
    if constexpr (IsText<T>) {
      lines_.push_back(path + "=" + value);
    } else if constexpr (IsFixed<T>) {
      lines_.push_back(path + "=" + value.hex());
    } else if constexpr (IsBytes<T>) {
      lines_.push_back(path + "=" + to_hex(value));
    } else if constexpr (IsTime<T>) {
      lines_.push_back(path + "=" + std::to_string(value.ns));
    } else if constexpr (IsNumber<T>) {
      lines_.push_back(path + "=" + std::to_string(value));
    } else if constexpr (IsEnumeration<T>) {
      lines_.push_back(path + "=" + std::to_string(static_cast<int>(value)));
    } else if constexpr (IsOptional<T>) {
      lines_.push_back(path + (value ? " is" : " is not"));
      if (value) show(path, *value);
    } else if constexpr (IsList<T>) {
      lines_.push_back(path + " has " + std::to_string(value.size()));
      for (std::size_t i = 0; i < value.size(); ++i) show(path + std::to_string(i), value[i]);
    } else if constexpr (IsMap<T>) {
      lines_.push_back(path + " has " + std::to_string(value.size()));
      std::size_t index = 0;
      for (const auto& [key, each] : value) {
        show(path + std::to_string(index) + ".key", key);
        show(path + std::to_string(index++), each);
      }
    } else {
      Dumper inner(path, lines_);
      Fields<T>::visit(inner, value);
    }
  }

  std::string path_;
  std::vector<std::string>& lines_;
};

template <class T>
[[nodiscard]] std::vector<std::string> lines_of(std::string_view name, const T& value) {
  std::vector<std::string> lines;
  Dumper dumper{std::string(name), lines};
  Fields<T>::visit(dumper, value);
  return lines;
}

// How many members an aggregate has: the most initialisers that it takes.
struct Anything {
  template <class T>
  operator T() const;
};
template <class T, class... Given>
[[nodiscard]] constexpr std::size_t members_of() {
  if constexpr (requires { T{Given{}..., Anything{}}; })
    return members_of<T, Given..., Anything>();
  else
    return sizeof...(Given);
}

}  // namespace datum::test
