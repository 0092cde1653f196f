// How the types of members are told apart while a table of fields is walked, and the accessors of
// the schema's entries of maps.
#pragma once

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "datum/base/ids.hpp"
#include "datum/base/time.hpp"
#include "fields.hpp"

namespace datum::codec {

template <class T>
concept IsText = std::same_as<T, std::string> || std::same_as<T, SharedText>;
// Fixed bytes: an id or a digest.
template <class T>
concept IsFixed = std::same_as<T, Digest> || std::same_as<T, Id128>;
template <class T>
concept IsTime = std::same_as<T, WallNs> || std::same_as<T, BootNs>;
template <class T>
concept IsNumber = std::integral<T>;  // bool included
template <class T>
concept IsEnumeration = std::is_enum_v<T>;
template <class T>
concept IsStruct = requires {
  sizeof(Fields<T>);
};

// Bytes as they are, at most as many as their message has.
template <class T>
concept IsBytes = std::same_as<T, Bytes>;

template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <class T>
concept IsList = kIsList<T> && !IsBytes<T>;

template <class T>
inline constexpr bool kIsMap = false;
template <class K, class V>
inline constexpr bool kIsMap<std::map<K, V>> = true;
template <class T>
concept IsMap = kIsMap<T>;

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
concept IsOptional = kIsOptional<T>;

}  // namespace datum::codec
