// What lay under a path before a pass changed it, as far as no manifest can say it: extended
// attributes, and the owner of a link. Kept by a wave before it is announced, and put back by a
// reverting pass; everything else of the former state its manifest declares.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/core/observation.hpp"
#include "datum/model/manifest.hpp"
#include "datum/os/files.hpp"

namespace datum::resource {

struct Former {
  std::vector<os::Attribute> attributes;  // those that are kept; sorted by name
  std::optional<core::Traces> traces;
};
using FormerStates = std::map<model::Target, Former>;

// Labels, ACLs, file capabilities, what users and root's programs wrote; nothing that belongs to
// the very inode.
[[nodiscard]] bool is_kept_attribute(std::string_view name);
// The kept ones among `attributes`, in their order.
[[nodiscard]] std::vector<os::Attribute> kept_attributes(std::vector<os::Attribute> attributes);

// The bytes of a blob with attributes (docs/formats/blobs.md), and back: `corrupt` for anything
// that is not just that.
[[nodiscard]] Bytes encode_attributes(const std::vector<os::Attribute>& attributes);
[[nodiscard]] Result<std::vector<os::Attribute>> decode_attributes(ByteView bytes);

// The resource that makes what is no path as it was: the values of its fields, the target's among
// them. `target` is that of a Hostname, Timezone, AuthorizedKey, Setting, Mount or Timer.
using FormerFields = std::vector<model::FieldValue>;
// Where nothing was there. `unsupported` where no document can say so.
[[nodiscard]] Result<FormerFields> former_absence(const model::Target& target);
// Where something was. `old` is the content that a wave kept: of the file that it lies in, the text
// of the link, or the value of a Setting. `unsupported`, in words, where no document says just
// that.
[[nodiscard]] Result<FormerFields> former_fields(const model::Target& target, std::string_view old);

// What the text of a drop-in of sysctl.d(5) sets the key to; nothing if it does not.
[[nodiscard]] std::optional<std::string> find_persisted_value(std::string_view drop_in,
                                                              std::string_view key);

}  // namespace datum::resource
