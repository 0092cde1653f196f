// One table says which members a value has and what they are called in the schema. Encoding,
// decoding and describing all walk it, so a member is stored, read and shown, or nowhere. A table
// is written
//
//   DATUM_STRUCT(core::StoreClosed) {
//     DATUM_FIELD(reason, Reason);
//   }
//
// member first, then the name in the schema with a capital. The order is that of describe_event.
// Knows no Cap'n Proto type by name: accessors are generic and cost nothing where they are not
// used.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace datum::codec {

// What an accessor is asked to do with a builder or reader.
enum class Access { get, set, init, has, is };
template <Access access>
using Do = std::integral_constant<Access, access>;

// A field's name for people: the schema's, with a small first letter.
template <std::size_t size>
struct FieldName {
  char letters[size]{};
  consteval FieldName(const char (&capitalised)[size]) {
    for (std::size_t i = 0; i < size; ++i) letters[i] = capitalised[i];
    letters[0] = static_cast<char>(letters[0] - 'A' + 'a');
  }
};
template <FieldName name>
inline constexpr std::string_view kNameOf{name.letters, sizeof(name.letters) - 1};

// Specialised by DATUM_STRUCT: `visit` calls visitor.field(name, member, accessor) for each member,
// or visitor.flags where the member is a set of bits.
template <class T>
struct Fields;

}  // namespace datum::codec

#define DATUM_STRUCT(Type)                                                               \
  template <>                                                                            \
  struct Fields<Type> {                                                                  \
    template <class Visitor, class Value>                                                \
    static void visit([[maybe_unused]] Visitor& visitor, [[maybe_unused]] Value& value); \
  };                                                                                     \
  template <class Visitor, class Value>                                                  \
  void Fields<Type>::visit([[maybe_unused]] Visitor& visitor, [[maybe_unused]] Value& value)

#define DATUM_ACCESS(Name)                                            \
  [](auto wanted, auto&& at, auto&&... with) -> decltype(auto) {      \
    using Wanted = decltype(wanted);                                  \
    if constexpr (Wanted::value == ::datum::codec::Access::get)       \
      return at.get##Name();                                          \
    else if constexpr (Wanted::value == ::datum::codec::Access::set)  \
      return at.set##Name(with...);                                   \
    else if constexpr (Wanted::value == ::datum::codec::Access::init) \
      return at.init##Name(with...);                                  \
    else if constexpr (Wanted::value == ::datum::codec::Access::has)  \
      return at.has##Name();                                          \
    else                                                              \
      return at.is##Name();                                           \
  }

#define DATUM_FIELD(member, Name) \
  visitor.field(::datum::codec::kNameOf<#Name>, value.member, DATUM_ACCESS(Name))
#define DATUM_FLAGS(member, Name) \
  visitor.flags(::datum::codec::kNameOf<#Name>, value.member, DATUM_ACCESS(Name))
