//===- ScheduleChoices.cpp - Fields of a schedule, by name ----------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Target/ScheduleChoices.h"
#include "vcattn/Target/Schedules.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace vcattn;

//===----------------------------------------------------------------------===//
// The fields
//===----------------------------------------------------------------------===//

namespace {
struct FieldInfo {
  llvm::StringLiteral name;
  /// Numbers from `least` to `most`, `step` apart; unless there are `words`,
  /// which stand for 0, 1, ...
  int64_t least, most, step;
  std::array<llvm::StringLiteral, 2> words;
  llvm::StringLiteral meaning;

  bool hasWords() const { return !words[0].empty(); }
  std::string getRange() const;
  std::string print(int64_t value) const {
    return hasWords() ? words[value].str() : std::to_string(value);
  }
  std::optional<int64_t> parse(StringRef text) const;
};
} // namespace

/// In the order of ScheduleChoices::Field.
static constexpr FieldInfo kFields[ScheduleChoices::NumFields] = {
    {"tile_q", 64, 192, 64, {"", ""}, "queries of a tile, 64 per consumer"},
    {"tile_k", 64, 64, 64, {"", ""}, "keys of a tile"},
    {"stages", 2, 8, 1, {"", ""}, "tiles of keys and of values in flight"},
    {"consumers", 1, 3, 1, {"", ""}, "warpgroups that compute"},
    {"producer_registers",
     24,
     256,
     8,
     {"", ""},
     "registers per thread of the warpgroup that loads"},
    {"consumer_registers",
     24,
     256,
     8,
     {"", ""},
     "registers per thread of a consumer"},
    {"ping_pong",
     0,
     1,
     1,
     {"false", "true"},
     "whether two consumers take turns in issuing products"},
    {"promotion",
     16,
     1024,
     16,
     {"", ""},
     "key tiles after which the FP8 accumulator is added to an FP32 one"},
};

std::string FieldInfo::getRange() const {
  if (hasWords())
    return (words[0] + "|" + words[1]).str();
  if (least == most)
    return std::to_string(least);
  if (step == 1)
    return llvm::formatv("{0}..{1}", least, most);
  return llvm::formatv("{0}, {1}, ... {2}", least, least + step, most);
}

std::optional<int64_t> FieldInfo::parse(StringRef text) const {
  if (hasWords()) {
    for (auto [i, word] : llvm::enumerate(words))
      if (text == word)
        return i;
    return std::nullopt;
  }
  int64_t value;
  if (text.getAsInteger(10, value) || value < least || value > most ||
      (value - least) % step != 0)
    return std::nullopt;
  return value;
}

std::string vcattn::describeScheduleFields() {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const FieldInfo &field : kFields)
    os << llvm::formatv("{0,-19} {1,-23} {2}\n", field.name, field.getRange(),
                        field.meaning);
  return text;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

llvm::Error ScheduleChoices::set(StringRef name, StringRef value) {
  const FieldInfo *field = llvm::find_if(
      kFields, [&](const FieldInfo &info) { return info.name == name; });
  if (field == std::end(kFields)) {
    SmallVector<StringRef> known;
    for (const FieldInfo &info : kFields)
      known.push_back(info.name);
    return llvm::createStringError("a schedule has no field '" + name +
                                   "'; there are " + llvm::join(known, ", "));
  }
  std::optional<int64_t> number = field->parse(value);
  if (!number)
    return llvm::createStringError("a schedule's " + field->name + " is " +
                                   field->getRange() + ", not '" + value + "'");
  values[field - std::begin(kFields)] = number;
  return llvm::Error::success();
}

llvm::Expected<ScheduleChoices> ScheduleChoices::parse(StringRef text) {
  ScheduleChoices choices;
  SmallVector<StringRef> items;
  text.split(items, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef item : items) {
    auto [name, value] = item.split('=');
    if (llvm::Error error = choices.set(name.trim(), value.trim()))
      return std::move(error);
  }
  return choices;
}

ScheduleChoices ScheduleChoices::of(ScheduleAttr schedule) {
  ScheduleChoices choices;
  choices.values = {schedule.getTileQ(),
                    schedule.getTileK(),
                    schedule.getStages(),
                    schedule.getConsumers(),
                    schedule.getProducerRegisters(),
                    schedule.getConsumerRegisters(),
                    schedule.getPingPong(),
                    schedule.getPromotion()};
  return choices;
}

ScheduleAttr
ScheduleChoices::apply(function_ref<InFlightDiagnostic()> emitError,
                       ScheduleAttr base) const {
  std::array<std::optional<int64_t>, NumFields> result = of(base).values;
  if (values[TileQ] && *values[TileQ] != base.getTileQ()) {
    int64_t consumers = values[Consumers].value_or(*values[TileQ] / 64);
    result[Consumers] = consumers;
    result[ConsumerRegisters] = getConsumerRegisters(consumers);
    result[PingPong] = consumers == 2;
  }
  for (unsigned i = 0; i < NumFields; ++i)
    if (values[i])
      result[i] = values[i];
  return ScheduleAttr::getChecked(
      emitError, base.getContext(), *result[TileQ], *result[TileK],
      *result[Stages], *result[Consumers], *result[ProducerRegisters],
      *result[ConsumerRegisters], *result[PingPong] != 0, *result[Promotion]);
}

std::string ScheduleChoices::print() const {
  SmallVector<std::string> items;
  for (auto [field, value] : llvm::zip_equal(kFields, values))
    if (value)
      items.push_back((field.name + "=" + field.print(*value)).str());
  return llvm::join(items, ",");
}

bool ScheduleChoices::empty() const {
  return llvm::none_of(values, [](auto &value) { return value.has_value(); });
}
