// The values of a host: labels and its name put into texts and templates, files of the fleet turned
// into digests. Secrets are left for the host.
#include <algorithm>

#include "assemble.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/yaml/scalar.hpp"
#include "merge.hpp"
#include "values.hpp"

namespace datum::fleet {
namespace {

using model::Piece;
using model::PieceKind;
using model::Pieces;

model::Content inline_content(std::string text, bool has_secrets) {
  model::Content content;
  content.digest = crypto::sha256(as_bytes(text));
  content.size = text.size();
  content.bytes = std::move(text);
  content.has_bytes = true;
  content.has_secrets = has_secrets;
  return content;
}

Fault missing_label(const Part& part, const std::string& name) {
  if (is_profile_label(name))
    return {part.at, "label " + name + " is a fact of the machine, and nobody gave it",
            "give it by --profile FILE; an enrolled node brings its own", false};
  return {part.at, "label " + name + " has no value",
          "add it to labels of the Host, or match only hosts that have it", false};
}

// Literals and secrets alone, with every label and host filled in; nothing if one is missing.
std::optional<Pieces> fill_pieces(const Pieces& pieces, const Part& part, const LabelView& labels,
                                  Filled& out) {
  Pieces filled;
  bool complete = true;
  for (const auto& piece : pieces) {
    if (piece.kind == PieceKind::literal || piece.kind == PieceKind::secret) {
      filled.push_back(piece);
      continue;
    }
    const std::string name = piece.kind == PieceKind::host ? "datum/host" : piece.text;
    if (const auto* value = labels.find(name)) {
      filled.push_back({PieceKind::literal, *value, piece.offset});
      continue;
    }
    complete = false;
    const bool fact = is_profile_label(name);
    if (fact) out.missing_facts.push_back(name);
    (fact ? out.fact_faults : out.faults).push_back(missing_label(part, name));
  }
  if (!complete) return std::nullopt;
  return filled;
}

std::optional<std::string> fill_text(const std::string& text, const Part& part,
                                     const LabelView& labels, Filled& out) {
  if (!part.varies) return text;
  const auto parsed = model::parse_substitutions(text);
  // A list may hold items without any.
  const auto filled = fill_pieces(std::get<Pieces>(parsed), part, labels, out);
  if (!filled) return std::nullopt;
  std::string result;
  for (const auto& piece : *filled) result.append(piece.text);
  return result;
}

std::optional<std::string> fill_line(const model::FieldDescriptor& field, const std::string& text,
                                     const Part& part, const LabelView& labels, Filled& out) {
  auto filled = fill_text(text, part, labels, out);
  if (!filled) return std::nullopt;
  if (const auto line = check_line(field.name, *filled, field.max_length); !line) {
    out.faults.push_back({part.at, line.error().message, line.error().hint, false});
    return std::nullopt;
  }
  auto checked = check_value(field, std::move(*filled));
  if (checked) return std::move(*checked);
  out.faults.push_back(
      {part.at, checked.error().message + " (after substitution)", checked.error().hint, false});
  return std::nullopt;
}

}  // namespace

Result<std::string> Merger::find_file(const std::string& folder, const Part& part,
                                      const std::string& text) {
  DATUM_ASSIGN(auto path, join_path(folder, text));
  auto status = documents_.sources->check(path);
  if (status) return path;
  // A key may be named from the fleet's root as well as from the layer's folder.
  if (part.field == model::Field::signing_key && !folder.empty()) {
    auto from_root = join_path("", text);
    if (from_root && documents_.sources->check(*from_root)) return from_root;
  }
  return fail(std::move(status).error());
}

const Merger::Template& Merger::load_template(const std::string& path) {
  const auto [at, added] = templates_.try_emplace(path);
  auto& result = at->second;
  if (!added) return result;
  auto text = documents_.sources->read_text(path, kMaxTextFile);
  if (!text) {
    result.status = fail(std::move(text).error());
    return result;
  }
  auto parsed = model::parse_substitutions(*text);
  if (const auto* fault = std::get_if<model::SubstitutionFault>(&parsed)) {
    const auto line =
        1 +
        std::count(text->begin(), text->begin() + static_cast<std::ptrdiff_t>(fault->offset), '\n');
    result.fault = path + ":" + std::to_string(line) + ": " + fault->message;
    return result;
  }
  result.pieces = std::move(std::get<Pieces>(parsed));
  for (const auto& piece : result.pieces) {
    result.varies =
        result.varies || piece.kind == PieceKind::label || piece.kind == PieceKind::host;
    result.has_secrets = result.has_secrets || piece.kind == PieceKind::secret;
  }
  return result;
}

std::optional<model::Value> Merger::make_template(const std::string& path, const Part& part,
                                                  const LabelView* labels, Filled& out) {
  const auto& known = load_template(path);
  if (!known.status) {
    out.faults.push_back({part.at, source_message(path, known.status.error()),
                          "a template is a readable text file", false});
    return std::nullopt;
  }
  if (!known.fault.empty()) {
    out.faults.push_back({part.at, "template " + known.fault,
                          "write {{ labels.NAME }}, {{ host }} or {{ secrets.NAME }}, or {{{{ for "
                          "two literal braces",
                          false});
    return std::nullopt;
  }
  const auto pieces =
      labels ? fill_pieces(known.pieces, part, *labels, out) : std::optional<Pieces>(known.pieces);
  if (!pieces) return std::nullopt;
  if (known.has_secrets) {
    auto text = model::join_with_secrets(*pieces);
    if (text) return inline_content(std::move(*text), true);
    out.faults.push_back({part.at, "template " + path + ": " + text.error().message(),
                          "put a space or another character between them", false});
    return std::nullopt;
  }
  std::string text;
  for (const auto& piece : *pieces) text.append(piece.text);
  return inline_content(std::move(text), false);
}

std::optional<model::Value> Merger::make_source(const std::string& path, const Part& part,
                                                const std::string& written,
                                                const std::string& folder, Filled& out) {
  const auto hashed = documents_.sources->hash(path);
  if (!hashed) {
    out.faults.push_back({part.at, source_message(written, hashed.error()),
                          source_hint(folder, hashed.error()), false});
    return std::nullopt;
  }
  model::Content content;
  content.digest = hashed->digest;
  content.size = hashed->size;
  static_assert(kKeptSource == model::kInlineContent);
  content.bytes = hashed->small;
  content.has_bytes = content.size <= kKeptSource;
  return content;
}

std::optional<model::Value> Merger::make_content(const std::string& folder, const Part& part,
                                                 const std::string& text, const LabelView* labels,
                                                 Filled& out) {
  if (part.key == ContentKey::content) return inline_content(text, false);
  if (part.key == ContentKey::secret) {
    model::Content content;
    content.secret = text;
    if (model::is_secret_name(text)) return content;
    out.faults.push_back({part.at, yaml::quoted(text) + " is not the name of a secret",
                          "a secret's name has letters, digits and . - _ / only", false});
    return std::nullopt;
  }
  const auto path = find_file(folder, part, text);
  if (!path) {
    out.faults.push_back(
        {part.at, source_message(text, path.error()), source_hint(folder, path.error()), false});
    return std::nullopt;
  }
  if (part.key == ContentKey::template_file) return make_template(*path, part, labels, out);
  return make_source(*path, part, text, folder, out);
}

Filled Merger::fill(const Merged& merged, const LabelView& labels) {
  Filled out;
  auto resource = merged.base;
  for (const auto* part : merged.varying) {
    const auto& field = model::describe(resource.reference.type, part->field);
    std::optional<model::Value> value;
    if (field.kind == model::FieldKind::content || field.kind == model::FieldKind::fleet_file) {
      const auto text = fill_text(std::get<std::string>(part->written), *part, labels, out);
      if (text)
        value = make_content(folder_of(documents_, merged.body_of(documents_, *part)), *part, *text,
                             &labels, out);
    } else if (const auto* list = std::get_if<std::vector<std::string>>(&part->written)) {
      std::vector<std::string> items;
      for (const auto& item : *list)
        if (auto line = fill_line(field, item, *part, labels, out))
          items.push_back(std::move(*line));
      if (items.size() == list->size()) value = std::move(items);
    } else {
      value = fill_line(field, std::get<std::string>(part->written), *part, labels, out);
    }
    if (value) resource.fields.push_back({part->field, std::move(*value)});
  }
  if (!out.faults.empty() || !out.fact_faults.empty()) return out;
  check_resource(documents_, merged, resource, out.faults);
  const bool wrong = std::any_of(out.faults.begin(), out.faults.end(),
                                 [](const Fault& fault) { return !fault.warning; });
  if (wrong) return out;
  model::finish_resource(resource);
  out.resource = std::make_shared<const model::Resource>(std::move(resource));
  return out;
}

}  // namespace datum::fleet
