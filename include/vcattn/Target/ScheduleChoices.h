//===- ScheduleChoices.h - Fields of a schedule, by name --------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What users may say about a schedule, on command lines and in files: values of
// single fields, which replace those of a schedule that is there already.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_TARGET_SCHEDULECHOICES_H
#define VCATTN_TARGET_SCHEDULECHOICES_H

#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"
#include "llvm/Support/Error.h"
#include <array>
#include <optional>

namespace vcattn {

class ScheduleChoices {
public:
  /// Chooses nothing.
  ScheduleChoices() = default;
  /// Parses `field=value,field=value,...`. The error names the field.
  static llvm::Expected<ScheduleChoices> parse(llvm::StringRef text);
  /// Chooses every field as `schedule` has it.
  static ScheduleChoices of(ScheduleAttr schedule);

  /// Sets the field that `name` is to what `value` says.
  llvm::Error set(llvm::StringRef name, llvm::StringRef value);

  /// `base` with these choices. Choosing `tile_q` alone also brings the
  /// consumers, their registers and whether they take turns, as far as those
  /// follow from it. Null, after an error, if the whole makes no sense.
  ScheduleAttr apply(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                     ScheduleAttr base) const;

  /// As parse() reads them, in the order of the attribute's fields.
  std::string print() const;
  bool empty() const;

  bool operator==(const ScheduleChoices &other) const {
    return values == other.values;
  }

  /// The fields of a schedule, in the order of #vcattn.schedule.
  enum Field : unsigned {
    TileQ,
    TileK,
    Stages,
    Consumers,
    ProducerRegisters,
    ConsumerRegisters,
    PingPong,
    Promotion,
    NumFields
  };

private:
  std::array<std::optional<int64_t>, NumFields> values;
};

/// One line per field: its name, its values and what it is.
std::string describeScheduleFields();

} // namespace vcattn

#endif // VCATTN_TARGET_SCHEDULECHOICES_H
