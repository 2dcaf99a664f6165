//===- HostTensor.cpp - Tensors in host memory ----------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Support/HostTensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"
#include <cmath>
#include <cstring>

using namespace vcattn;

size_t vcattn::getSize(Element element) {
  switch (element) {
  case Element::I1:
  case Element::I8:
  case Element::F8E4M3FN:
    return 1;
  case Element::F16:
  case Element::BF16:
    return 2;
  case Element::I32:
  case Element::F32:
    return 4;
  case Element::I64:
  case Element::F64:
    return 8;
  }
  llvm_unreachable("all formats are listed");
}

llvm::StringRef vcattn::getName(Element element) {
  switch (element) {
  case Element::I1:
    return "i1";
  case Element::I8:
    return "i8";
  case Element::I32:
    return "i32";
  case Element::I64:
    return "i64";
  case Element::F8E4M3FN:
    return "f8E4M3FN";
  case Element::F16:
    return "f16";
  case Element::BF16:
    return "bf16";
  case Element::F32:
    return "f32";
  case Element::F64:
    return "f64";
  }
  llvm_unreachable("all formats are listed");
}

std::optional<Element> vcattn::getElement(mlir::Type type) {
  if (type.isInteger(1))
    return Element::I1;
  if (type.isInteger(8))
    return Element::I8;
  if (type.isInteger(32))
    return Element::I32;
  if (type.isInteger(64) || type.isIndex())
    return Element::I64;
  if (mlir::isa<mlir::Float8E4M3FNType>(type))
    return Element::F8E4M3FN;
  if (type.isF16())
    return Element::F16;
  if (type.isBF16())
    return Element::BF16;
  if (type.isF32())
    return Element::F32;
  if (type.isF64())
    return Element::F64;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

template <typename T>
static T read(const char *data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

template <typename T>
static void write(T value, char *data) {
  std::memcpy(data, &value, sizeof(T));
}

/// A float of `exponentBits` and `mantissaBits` with IEEE's subnormals; the
/// largest exponent is infinity and NaN.
static double decodeIeee(uint32_t bits, int exponentBits, int mantissaBits) {
  int mask = (1 << exponentBits) - 1, bias = mask >> 1;
  int exponent = bits >> mantissaBits & mask;
  int mantissa = bits & ((1 << mantissaBits) - 1);
  double sign = bits >> (exponentBits + mantissaBits) & 1 ? -1.0 : 1.0;
  if (exponent == mask)
    return mantissa ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0)
    return sign * std::ldexp(mantissa, 1 - bias - mantissaBits);
  return sign * std::ldexp(mantissa + (1 << mantissaBits),
                           exponent - bias - mantissaBits);
}

/// E4M3FN has no infinities: only an all-ones code is NaN.
static double decodeE4M3(uint8_t bits) {
  if ((bits & 0x7f) == 0x7f)
    return std::nan("");
  double sign = bits & 0x80 ? -1.0 : 1.0;
  int exponent = bits >> 3 & 15, mantissa = bits & 7;
  return sign * (exponent ? std::ldexp(mantissa + 8, exponent - 10)
                          : std::ldexp(mantissa, -9));
}

static uint16_t encodeBF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return bits >> 16 | 0x40;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static uint16_t encodeF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  uint16_t sign = bits >> 16 & 0x8000;
  if (std::isnan(value))
    return sign | 0x7e00;
  float magnitude = std::fabs(value);
  if (magnitude >= 65520.0f)
    return sign | 0x7c00;
  // Below the normals one unit is 2^-24; a carry into the normals is right.
  if (magnitude < 0x1p-14f)
    return sign | static_cast<uint16_t>(std::nearbyint(magnitude * 0x1p24f));
  uint32_t m = bits & 0x7fffffff;
  m = m + 0xfff + (m >> 13 & 1) - ((127 - 15) << 23);
  return sign | m >> 13;
}

double vcattn::loadElement(Element element, const char *data) {
  switch (element) {
  case Element::I1:
    return *data != 0;
  case Element::I8:
    return read<int8_t>(data);
  case Element::I32:
    return read<int32_t>(data);
  case Element::I64:
    return static_cast<double>(read<int64_t>(data));
  case Element::F8E4M3FN:
    return decodeE4M3(read<uint8_t>(data));
  case Element::F16:
    return decodeIeee(read<uint16_t>(data), 5, 10);
  case Element::BF16:
    return llvm::bit_cast<float>(uint32_t(read<uint16_t>(data)) << 16);
  case Element::F32:
    return read<float>(data);
  case Element::F64:
    return read<double>(data);
  }
  llvm_unreachable("all formats are listed");
}

void vcattn::storeElement(Element element, double value, char *data) {
  float rounded = static_cast<float>(value);
  switch (element) {
  case Element::F16:
    return write(encodeF16(rounded), data);
  case Element::BF16:
    return write(encodeBF16(rounded), data);
  case Element::F32:
    return write(rounded, data);
  case Element::F64:
    return write(value, data);
  default:
    llvm_unreachable("only floats are stored");
  }
}

//===----------------------------------------------------------------------===//
// HostTensor
//===----------------------------------------------------------------------===//

static int64_t countElements(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

HostTensor::HostTensor(Element element, llvm::ArrayRef<int64_t> shape)
    : element(element), shape(shape),
      bytes(countElements(shape) * getSize(element)) {}

int64_t HostTensor::getNumElements() const { return countElements(shape); }

std::string HostTensor::getTypeName() const {
  std::string name;
  for (int64_t size : shape)
    name += llvm::itostr(size) + "x";
  return name + getName(element).str();
}

int64_t HostTensor::countNonFinite() const {
  if (element == Element::I1 || element == Element::I8 ||
      element == Element::I32 || element == Element::I64)
    return 0;
  int64_t count = 0;
  for (int64_t i = 0, e = getNumElements(); i < e; ++i)
    count += !std::isfinite(load(i));
  return count;
}
