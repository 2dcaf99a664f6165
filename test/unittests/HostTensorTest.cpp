//===- HostTensorTest.cpp - Element formats -------------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Support/HostTensor.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace vcattn;

static double load(Element element, uint64_t bits) {
  char data[8];
  std::memcpy(data, &bits, 8);
  return loadElement(element, data);
}

static uint64_t store(Element element, double value) {
  char data[8] = {};
  storeElement(element, value, data);
  uint64_t bits;
  std::memcpy(&bits, data, 8);
  return bits;
}

/// Every code of a format decodes to what LLVM's own floats say.
static void checkAllCodes(Element element, const llvm::fltSemantics &semantics,
                          unsigned width) {
  for (uint64_t bits = 0; bits < uint64_t(1) << width; ++bits) {
    llvm::APFloat want(semantics, llvm::APInt(width, bits));
    double got = load(element, bits);
    if (want.isNaN()) {
      EXPECT_TRUE(std::isnan(got)) << bits;
      continue;
    }
    bool loses;
    want.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &loses);
    EXPECT_EQ(got, want.convertToDouble()) << bits;
    EXPECT_EQ(std::signbit(got), want.isNegative()) << bits;
  }
}

TEST(HostTensor, DecodesEveryF16) {
  checkAllCodes(Element::F16, llvm::APFloat::IEEEhalf(), 16);
}
TEST(HostTensor, DecodesEveryBF16) {
  checkAllCodes(Element::BF16, llvm::APFloat::BFloat(), 16);
}
TEST(HostTensor, DecodesEveryE4M3) {
  checkAllCodes(Element::F8E4M3FN, llvm::APFloat::Float8E4M3FN(), 8);
}

/// Rounding agrees with LLVM's, around every representable value.
static void checkRounding(Element element,
                          const llvm::fltSemantics &semantics) {
  for (uint64_t bits = 0; bits < 0x7fffffff; bits += 0x7fff) {
    float x = static_cast<float>(load(Element::F32, bits));
    if (std::isnan(x))
      continue;
    for (float value : {x, -x}) {
      llvm::APFloat want(value);
      bool loses;
      want.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &loses);
      EXPECT_EQ(store(element, value), want.bitcastToAPInt().getZExtValue())
          << value;
    }
  }
}

TEST(HostTensor, RoundsToF16) {
  checkRounding(Element::F16, llvm::APFloat::IEEEhalf());
}
TEST(HostTensor, RoundsToBF16) {
  checkRounding(Element::BF16, llvm::APFloat::BFloat());
}

TEST(HostTensor, TiesGoToEven) {
  EXPECT_EQ(store(Element::BF16, 1.0 + 0x1p-8), 0x3f80u);
  EXPECT_EQ(store(Element::BF16, 1.0 + 0x3p-8), 0x3f82u);
  EXPECT_EQ(store(Element::F16, 0x1p-25), 0u);
  EXPECT_EQ(store(Element::F16, 0x3p-25), 2u);
  EXPECT_EQ(store(Element::F16, 65519.0), 0x7bffu);
  EXPECT_EQ(store(Element::F16, 65520.0), 0x7c00u);
}

TEST(HostTensor, KeepsNaN) {
  for (Element element : {Element::F16, Element::BF16, Element::F32})
    EXPECT_TRUE(std::isnan(load(element, store(element, std::nan("")))));
}

TEST(HostTensor, CountsNonFinite) {
  HostTensor tensor(Element::BF16, {2, 3});
  EXPECT_EQ(tensor.countNonFinite(), 0);
  tensor.store(1, HUGE_VAL);
  tensor.store(5, std::nan(""));
  EXPECT_EQ(tensor.countNonFinite(), 2);
  EXPECT_EQ(tensor.getTypeName(), "2x3xbf16");
}
