//===- ScheduleFile.cpp - Schedules that were found by measuring ----------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Target/ScheduleFile.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include <tuple>

using namespace mlir;
using namespace vcattn;
namespace json = llvm::json;

static constexpr int64_t kVersion = 1;

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

ScheduleKey ScheduleKey::of(QuantizedAttentionOp op, StringRef chip) {
  auto query = llvm::cast<ShapedType>(op.getQuery().getType());
  TokenShape q = TokenShape::get(query, op.getLayout());
  TokenShape k = TokenShape::get(llvm::cast<ShapedType>(op.getKey().getType()),
                                 op.getLayout());
  TokenShape v = TokenShape::get(
      llvm::cast<ShapedType>(op.getValue().getType()), op.getLayout());
  ScheduleKey key;
  key.target = chip.str();
  key.headDim = q.dim;
  key.valueDim = v.dim;
  key.cast = stringifySoftmaxCast(op.getCast()).str();
  llvm::raw_string_ostream(key.scores) << query.getElementType();
  key.causal = stringifyCausality(op.getCausal()).str();
  key.sizes = getSizeClass(q.batch, q.heads, q.tokens, k.tokens, chip);
  return key;
}

bool ScheduleKey::operator==(const ScheduleKey &other) const {
  auto tie = [](const ScheduleKey &x) {
    return std::tie(x.target, x.headDim, x.valueDim, x.cast, x.scores, x.causal,
                    x.sizes);
  };
  return tie(*this) == tie(other);
}

std::string ScheduleKey::print() const {
  return llvm::formatv(
      "{0}, head dimensions {1} and {2}, {3} scores, cast {4}, causal {5}, "
      "sizes {6}",
      target, headDim, valueDim, scores, cast, causal, getName(sizes));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

// llvm::json finds these in the namespace of their types.
namespace vcattn {
/// Fields by name, as strings; a bad one is reported at its own place.
static bool fromJSON(const json::Value &value, ScheduleChoices &choices,
                     json::Path path) {
  const json::Object *object = value.getAsObject();
  if (!object) {
    path.report("expected object");
    return false;
  }
  for (const auto &[name, field] : *object) {
    std::optional<StringRef> text = field.getAsString();
    if (!text) {
      path.field(name).report("expected string");
      return false;
    }
    if (llvm::Error error = choices.set(name, *text)) {
      // Path keeps a pointer to the message only.
      llvm::consumeError(std::move(error));
      path.field(name).report("no such field, or no such value of it");
      return false;
    }
  }
  return true;
}

static bool fromJSON(const json::Value &value, SizeClass &sizes,
                     json::Path path) {
  std::optional<StringRef> text = value.getAsString();
  std::optional<SizeClass> known =
      text ? parseSizeClass(*text) : std::optional<SizeClass>();
  if (!known) {
    path.report("expected few, decode, short, medium, long or open");
    return false;
  }
  sizes = *known;
  return true;
}

static bool fromJSON(const json::Value &value, TunedSchedule &schedule,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  ScheduleKey &key = schedule.key;
  return map && map.map("target", key.target) &&
         map.map("head_dim", key.headDim) &&
         map.map("value_dim", key.valueDim) && map.map("cast", key.cast) &&
         map.map("scores", key.scores) && map.map("causal", key.causal) &&
         map.map("sizes", key.sizes) && map.map("schedule", schedule.choices) &&
         map.map("device", schedule.device) &&
         map.map("milliseconds", schedule.milliseconds);
}
} // namespace vcattn

/// "[3:5, byte=40]: text" as "3:5: text".
static std::string moveLocation(const std::string &message) {
  SmallVector<StringRef> parts;
  llvm::Regex location("^\\[([0-9]+):([0-9]+), byte=[0-9]+\\]: (.*)$");
  if (!location.match(message, &parts))
    return message;
  return (parts[1] + ":" + parts[2] + ": " + parts[3]).str();
}

llvm::Expected<ScheduleFile> ScheduleFile::read(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (std::error_code error = file.getError())
    return llvm::createStringError(path + ": " + error.message());
  auto value = json::parse((*file)->getBuffer());
  if (!value)
    return llvm::createStringError(
        path + ":" + moveLocation(llvm::toString(value.takeError())));
  json::Path::Root root("schedules");
  json::ObjectMapper map(*value, root);
  int64_t version = 0;
  ScheduleFile result;
  if (!map || !map.map("version", version))
    return llvm::createStringError(path + ": " +
                                   llvm::toString(root.getError()));
  if (version != kVersion)
    return llvm::createStringError(path + ": version " + Twine(version) +
                                   ", where this program knows " +
                                   Twine(kVersion));
  if (!map.map("schedules", result.schedules))
    return llvm::createStringError(path + ": " +
                                   llvm::toString(root.getError()));
  return result;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static json::Object toJSON(const TunedSchedule &schedule) {
  json::Object fields;
  std::string text = schedule.choices.print();
  for (StringRef item : llvm::split(text, ',')) {
    auto [name, value] = item.split('=');
    fields[name.str()] = value.str();
  }
  const ScheduleKey &key = schedule.key;
  return json::Object{
      {"target", key.target},        {"head_dim", key.headDim},
      {"value_dim", key.valueDim},   {"cast", key.cast},
      {"scores", key.scores},        {"causal", key.causal},
      {"sizes", getName(key.sizes)}, {"schedule", std::move(fields)},
      {"device", schedule.device},   {"milliseconds", schedule.milliseconds}};
}

llvm::Error ScheduleFile::write(StringRef path) const {
  json::Array list;
  for (const TunedSchedule &schedule : schedules)
    list.push_back(toJSON(schedule));
  json::Value value =
      json::Object{{"version", kVersion}, {"schedules", std::move(list)}};
  llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
    os << llvm::formatv("{0:2}\n", value);
    return llvm::Error::success();
  });
  if (!error)
    return error;
  return llvm::createStringError("cannot write " + path + ": " +
                                 llvm::toString(std::move(error)));
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

const TunedSchedule *ScheduleFile::lookup(const ScheduleKey &key) const {
  for (const TunedSchedule &schedule : schedules)
    if (schedule.key == key)
      return &schedule;
  return nullptr;
}

void ScheduleFile::set(TunedSchedule schedule) {
  for (TunedSchedule &known : schedules)
    if (known.key == schedule.key) {
      known = std::move(schedule);
      return;
    }
  schedules.push_back(std::move(schedule));
}
