// init, validate, render, explain, affected, schema: a fleet, without any machine.
#include <cstdio>
#include <filesystem>
#include <thread>

#include "commands.hpp"
#include "datum/codec/manifest_file.hpp"
#include "datum/fleet/affected.hpp"
#include "datum/fleet/explain.hpp"
#include "datum/fleet/render.hpp"
#include "datum/fleet/resolve.hpp"
#include "datum/fleet/schema.hpp"
#include "datum/fleet/starter.hpp"
#include "datum/fleet/validate.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "datum/text/human.hpp"
#include "datum/text/json_writer.hpp"
#include "desired.hpp"
#include "durable_file.hpp"
#include "print.hpp"

namespace datum::program {

namespace {

Result<int> run_init(os::Files& files, const Arguments& arguments) {
  DATUM_ASSIGN(
      const auto written,
      fleet::write_starter_fleet(files, absolute_path(arguments.folder), host_name(arguments)));
  for (const auto& path : written) print(path + "\n");
  print("A fleet for " + host_name(arguments) + ". Next: datum validate --fleet " +
        arguments.folder + "\n");
  return 0;
}

void write_findings(text::JsonWriter& json, const fleet::Findings& findings) {
  json.begin_array();
  for (const auto& finding : findings) {
    const auto& at = finding.diagnostic;
    json.begin_object()
        .member("file", at.file)
        .member("line", at.line)
        .member("column", at.column)
        .member("message", at.message)
        .member("hint", at.hint)
        .key("hosts")
        .begin_array();
    for (const auto& host : finding.hosts) json.value(host);
    json.end_array().end_object();
  }
  json.end_array();
}

std::string validation_json(const fleet::Findings& errors, const fleet::Findings& warnings,
                            const fleet::Validation& validation) {
  text::JsonWriter json;
  json.begin_object()
      .member("sound", errors.empty())
      .member("hosts", validation.hosts)
      .member("layers", validation.layers)
      .member("documents", validation.documents)
      .key("errors");
  write_findings(json, errors);
  json.key("warnings");
  write_findings(json, warnings);
  json.key("dependsOnFacts").begin_array();
  for (const auto& dependence : validation.dependent) {
    json.begin_object().member("host", dependence.host).key("facts").begin_array();
    for (const auto& fact : dependence.facts) json.value(fact);
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return json.take() + "\n";
}

std::string validation_text(const fleet::Validation& validation) {
  std::string text;
  for (const auto& dependence : validation.dependent) {
    text += "note: the result for " + dependence.host + " depends on";
    for (const auto& fact : dependence.facts) text += " " + fact;
    text += ", taken as absent; --profile FILE gives it\n";
  }
  const auto totals = text::format_count(validation.hosts, "host") + ", " +
                      text::format_count(validation.layers, "layer") + ", " +
                      text::format_count(validation.documents, "resource document");
  if (validation.sound()) return text + "Sound: " + totals + ".\n";
  return text + text::format_count(validation.errors.size(), "error") + " in " + totals + ".\n";
}

Result<int> run_validate(os::Files& files, const Arguments& arguments) {
  const auto width = std::max(1U, std::thread::hardware_concurrency());
  fleet::LoadOptions load;
  load.parallel = on_threads(width);
  auto loaded = fleet::load_fleet(files, absolute_path(arguments.fleet), load);
  fleet::Validation validation;
  if (loaded.fleet) {
    fleet::ValidateOptions options;
    DATUM_ASSIGN(options.profile, read_profile(arguments));
    options.parallel = on_threads(width);
    options.width = width;
    validation = fleet::validate(loaded.fleet, options);
  }
  auto errors = std::move(loaded.errors);
  errors.insert(errors.end(), validation.errors.begin(), validation.errors.end());
  auto warnings = std::move(loaded.warnings);
  warnings.insert(warnings.end(), validation.warnings.begin(), validation.warnings.end());
  if (arguments.json) {
    print(validation_json(errors, warnings, validation));
    return errors.empty() ? 0 : 1;
  }
  print_findings(warnings, "warning");
  print_findings(errors, "error");
  if (loaded.fleet) print(validation_text(validation));
  if (!loaded.fleet)
    std::fprintf(stderr, "%s\n", text::format_count(errors.size(), "error").c_str());
  return errors.empty() ? 0 : 1;
}

Result<int> run_render(os::Files& files, const Arguments& arguments) {
  DATUM_ASSIGN(const auto loaded, load_fleet_or_report(files, arguments));
  DATUM_ASSIGN(const auto profile, read_profile(arguments));
  const auto resolved = fleet::resolve(loaded, host_name(arguments), profile);
  print_findings(resolved.warnings, "warning");
  print_findings(resolved.errors, "error");
  if (!resolved.manifest)
    return fail(ErrorCode::invalid_argument,
                "the fleet has no valid manifest for host " + host_name(arguments));
  if (arguments.output.empty()) {
    print(arguments.json ? fleet::render_json(*resolved.manifest) + "\n"
                         : fleet::render_text(*resolved.manifest));
    return 0;
  }
  DATUM_ASSIGN(auto out, DurableFile::create(arguments.output));
  const auto contents = fleet::make_content_source(loaded, resolved.manifest);
  DATUM_TRY(codec::write_manifest(*resolved.manifest, *contents,
                                  [&out](ByteView bytes) { return out.write(bytes); }));
  DATUM_TRY(out.commit());
  print(arguments.output + ": " +
        text::format_count(resolved.manifest->resources.size(), "resource") + " for " +
        resolved.manifest->host + ", digest " + resolved.manifest->digest.hex() + "\n");
  return 0;
}

void write_statement(text::JsonWriter& json, const fleet::Statement& statement) {
  json.begin_object()
      .member("value", statement.value)
      .member("file", statement.file)
      .member("line", statement.line)
      .member("layer", statement.layer)
      .member("precedence", statement.precedence)
      .end_object();
}

void write_statements(text::JsonWriter& json, const std::vector<fleet::Statement>& statements) {
  json.begin_array();
  for (const auto& statement : statements) write_statement(json, statement);
  json.end_array();
}

std::string explanation_json(const fleet::Explanation& explanation) {
  text::JsonWriter json;
  json.begin_object()
      .member("reference", explanation.resource->reference.text())
      .member("target", explanation.resource->target.text())
      .member("digest", explanation.resource->digest.hex())
      .key("fields")
      .begin_array();
  for (const auto& field : explanation.fields) {
    json.begin_object().member("field", field.field).member("value", field.value).key("setBy");
    write_statement(json, field.set_by);
    json.key("overrode");
    write_statements(json, field.overrode);
    json.key("joined");
    write_statements(json, field.joined);
    json.end_object();
  }
  json.end_array().key("documents");
  write_statements(json, explanation.documents);
  json.key("layers").begin_array();
  for (const auto& layer : explanation.layers) json.value(layer);
  json.end_array().end_object();
  return json.take() + "\n";
}

Result<int> run_explain(os::Files& files, const Arguments& arguments) {
  const auto reference = model::find_reference(arguments.reference);
  if (!reference)
    return fail(ErrorCode::invalid_argument, arguments.reference +
                                                 ": not a reference; it has the form Type[name], "
                                                 "for example File[motd]");
  DATUM_ASSIGN(const auto loaded, load_fleet_or_report(files, arguments));
  DATUM_ASSIGN(const auto profile, read_profile(arguments));
  const auto explained = fleet::explain(loaded, host_name(arguments), *reference, profile);
  print_findings(explained.errors, "error");
  if (!explained.explanation) return 1;
  print(arguments.json ? explanation_json(*explained.explanation)
                       : fleet::to_string(*explained.explanation));
  return 0;
}

std::string host_change_json(const fleet::HostChange& change) {
  text::JsonWriter json;
  json.begin_object()
      .member("host", change.host)
      .member("change", fleet::to_string(change.change))
      .member("before", change.before.empty() ? "" : change.before.hex())
      .member("after", change.after.empty() ? "" : change.after.hex())
      .key("resources")
      .begin_array();
  for (const auto& resource : change.resources) {
    json.begin_object()
        .member("reference", resource.reference.text())
        .member("change", fleet::to_string(resource.change))
        .member("enforcementBegins", resource.enforcement_begins)
        .key("fields")
        .begin_array();
    for (const auto& field : resource.fields) json.value(field);
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return json.take() + "\n";
}

std::string host_change_text(const fleet::HostChange& change) {
  std::string text = change.host + ": " + std::string(fleet::to_string(change.change)) + "\n";
  for (const auto& resource : change.resources) {
    text +=
        "  " + std::string(fleet::to_string(resource.change)) + "  " + resource.reference.text();
    for (std::size_t i = 0; i < resource.fields.size(); ++i)
      text += (i == 0 ? "  " : ", ") + resource.fields[i];
    if (resource.enforcement_begins) text += "  (enforcement begins: it was only observed)";
    text += "\n";
  }
  return text;
}

Result<int> compare_fleets(os::Files& files, const Arguments& arguments,
                           const fleet::FleetPtr& after) {
  Arguments base = arguments;
  base.fleet = arguments.base;
  DATUM_ASSIGN(const auto before, load_fleet_or_report(files, base));
  DATUM_ASSIGN(const auto profile, read_profile(arguments));
  const auto affected = fleet::affected(before, after, profile);
  print_findings(affected.errors, "error");
  for (const auto& change : affected.hosts)
    print(arguments.json ? host_change_json(change) : host_change_text(change));
  if (!arguments.json)
    print(text::format_count(affected.hosts.size(), "host") + " of " +
          std::to_string(affected.compared) + " affected.\n");
  return affected.errors.empty() ? 0 : 1;
}

// A changed file as the fleet names it: below its folder, whichever way it was written.
std::string inside_fleet(const std::string& file, const std::string& fleet) {
  if (!file.starts_with('/')) return std::filesystem::path(file).lexically_normal().string();
  std::error_code ignored;
  const auto real = std::filesystem::weakly_canonical(file, ignored).string();
  for (const auto& base :
       {absolute_path(fleet), std::filesystem::weakly_canonical(fleet, ignored).string()})
    for (const auto& path : {absolute_path(file), real})
      if (path.starts_with(base + "/")) return path.substr(base.size() + 1);
  return file;
}

Result<int> run_affected(os::Files& files, const Arguments& arguments) {
  if (arguments.base.empty() && arguments.files.empty())
    return fail(
        ErrorCode::invalid_argument,
        "datum affected: name changed files, or the fleet before the change with --base DIR");
  DATUM_ASSIGN(const auto loaded, load_fleet_or_report(files, arguments));
  if (!arguments.base.empty()) return compare_fleets(files, arguments, loaded);
  DATUM_ASSIGN(const auto profile, read_profile(arguments));
  int code = 0;
  std::vector<std::string> names;
  for (const auto& file : arguments.files) names.push_back(inside_fleet(file, arguments.fleet));
  for (const auto& touched : fleet::touched_hosts(loaded, names, profile)) {
    if (!touched.known) {
      std::fprintf(stderr, "error: %s: the fleet does not read this file\n", touched.file.c_str());
      code = 1;
    }
    if (arguments.json) {
      text::JsonWriter json;
      json.begin_object().member("file", touched.file).member("known", touched.known);
      json.key("hosts").begin_array();
      for (const auto& host : touched.hosts) json.value(host);
      json.end_array().end_object();
      print(json.take() + "\n");
    } else if (touched.known) {
      print(touched.file + ": " + text::format_count(touched.hosts.size(), "host") + "\n");
      for (const auto& host : touched.hosts) print("  " + host + "\n");
    }
  }
  return code;
}

Result<int> run_on_fleet(const Arguments& arguments) {
  const auto files = os_linux::make_files();
  switch (arguments.verb) {
    case Verb::init:
      return run_init(*files, arguments);
    case Verb::validate:
      return run_validate(*files, arguments);
    case Verb::render:
      return run_render(*files, arguments);
    case Verb::explain:
      return run_explain(*files, arguments);
    case Verb::affected:
      return run_affected(*files, arguments);
    default:
      print(fleet::document_schema());
      return 0;
  }
}

}  // namespace

int fleet_command(const Arguments& arguments) {
  return finish(run_on_fleet(arguments));
}

}  // namespace datum::program
