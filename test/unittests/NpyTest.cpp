//===- NpyTest.cpp - Reading and writing .npy files -----------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Support/Npy.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace vcattn;

namespace {
class Npy : public testing::Test {
protected:
  void SetUp() override {
    llvm::SmallString<128> name;
    ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("vcattn", "npy", name));
    path = name.str().str();
  }
  void TearDown() override { llvm::sys::fs::remove(path); }

  void writeRaw(llvm::StringRef bytes) {
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << bytes;
    ASSERT_FALSE(error);
  }
  /// A file of version `major` with this dictionary and data.
  void writeFile(llvm::StringRef header, llvm::StringRef data, char major = 1) {
    std::string bytes = std::string("\x93NUMPY") + major + '\0';
    bytes += static_cast<char>(header.size());
    bytes.append(major == 1 ? 1 : 3, '\0');
    writeRaw(bytes + header.str() + data.str());
  }
  /// The message of the error that reading ends with, without the path.
  std::string readError(Element element, llvm::ArrayRef<int64_t> shape) {
    auto tensor = readNpy(path, element, shape);
    if (tensor)
      return "no error";
    std::string text = llvm::toString(tensor.takeError());
    EXPECT_EQ(text.rfind(path + ": ", 0), 0u) << text;
    return text.substr(std::min(text.size(), path.size() + 2));
  }
  std::string path;
};
} // namespace

static constexpr llvm::StringLiteral kHeader =
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";

TEST_F(Npy, ReadsWhatItWrites) {
  for (Element element :
       {Element::I1, Element::I8, Element::I32, Element::I64, Element::F8E4M3FN,
        Element::F16, Element::BF16, Element::F32, Element::F64}) {
    for (const std::vector<int64_t> &shape :
         std::vector<std::vector<int64_t>>{{2, 3, 4}, {5}, {}, {2, 0}}) {
      HostTensor tensor(element, shape);
      for (size_t i = 0; i < tensor.bytes.size(); ++i)
        tensor.bytes[i] = i % 2;
      ASSERT_FALSE(writeNpy(path, tensor));
      auto back = readNpy(path, element, shape);
      ASSERT_TRUE(bool(back)) << llvm::toString(back.takeError());
      EXPECT_EQ(back->bytes, tensor.bytes);
      EXPECT_EQ(llvm::ArrayRef(back->shape), llvm::ArrayRef(shape));
    }
  }
}

TEST_F(Npy, ReadsEveryVersionAndSpacing) {
  writeFile("{\"shape\":(1,2),'fortran_order':False,'descr':\"<f4\"}",
            "12345678", 2);
  auto tensor = readNpy(path, Element::F32, {1, -1});
  ASSERT_TRUE(bool(tensor)) << llvm::toString(tensor.takeError());
  EXPECT_EQ(tensor->getTypeName(), "1x2xf32");
}

TEST_F(Npy, RefusesWhatIsNoNpyFile) {
  writeRaw("");
  EXPECT_EQ(readError(Element::F32, {2}), "not a .npy file");
  writeRaw("PK\x03\x04 some archive");
  EXPECT_EQ(readError(Element::F32, {2}), "not a .npy file");
  writeFile(kHeader, "12345678", 9);
  EXPECT_EQ(readError(Element::F32, {2}), "unknown version 9 of .npy");
}

TEST_F(Npy, RefusesMissingFiles) {
  auto tensor = readNpy(path + ".none", Element::F32, {2});
  ASSERT_FALSE(bool(tensor));
  EXPECT_EQ(llvm::toString(tensor.takeError()),
            path + ".none: No such file or directory");
}

TEST_F(Npy, RefusesTruncatedFiles) {
  writeFile(kHeader, "1234567");
  EXPECT_EQ(readError(Element::F32, {2}),
            "it has 7 bytes of data, but its shape needs 8");
  writeFile(kHeader, "123456789");
  EXPECT_EQ(readError(Element::F32, {2}),
            "it has 9 bytes of data, but its shape needs 8");
  std::string whole = std::string("\x93NUMPY\x01\x00\x40\x00", 10) + "{'descr'";
  writeRaw(whole);
  EXPECT_EQ(readError(Element::F32, {2}), "truncated in its header");
  writeRaw(llvm::StringRef(whole).take_front(9));
  EXPECT_EQ(readError(Element::F32, {2}), "truncated in its header");
}

TEST_F(Npy, RefusesGarbledHeaders) {
  struct {
    const char *header, *why;
  } cases[] = {
      {"[]", "no dictionary"},
      {"{'descr' '<f4'}", "expected ':' after 'descr'"},
      {"{'descr': [('a', '<f4')], }", "structured arrays are not supported"},
      {"{'descr': '<f4', 'fortran_order': Maybe, }",
       "'fortran_order' is neither True nor False"},
      {"{'descr': '<f4', 'shape': (2, -1), }",
       "'shape' holds something that is no size"},
      {"{'descr': '<f4', 'shape': (99999999999999999999,), }",
       "'shape' holds something that is no size"},
      {"{'descr': '<f4', 'shape': 2, }", "'shape' is not a tuple"},
      {"{'descr': '<f4', 'shape': (2", "'shape' does not end"},
      {"{'descr': '<f4', 'owner': 'me', }", "unknown key 'owner'"},
      {"{'descr': '<f4', 'shape': (2,)", "the dictionary does not end"},
      {"{'descr': '<f4', }", "it lacks 'descr', 'fortran_order' or 'shape'"},
      {"{descr: '<f4', }", "expected a string"},
  };
  for (auto &test : cases) {
    writeFile(test.header, "12345678");
    EXPECT_EQ(readError(Element::F32, {2}),
              std::string("bad .npy header: ") + test.why);
  }
}

TEST_F(Npy, RefusesOtherTypesShapesAndOrders) {
  writeFile(kHeader, "12345678");
  EXPECT_EQ(readError(Element::BF16, {2}),
            "its dtype is '<f4', but bf16 is stored as <u2 or |V2 or <V2");
  EXPECT_EQ(readError(Element::F32, {3}),
            "its shape is [2], but the function takes [3]");
  EXPECT_EQ(readError(Element::F32, {-1, 2}),
            "its shape is [2], but the function takes [?, 2]");
  writeFile("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }",
            "12345678");
  EXPECT_EQ(readError(Element::F32, {1, 2}),
            "it is in Fortran order; save it with numpy.ascontiguousarray");
}

TEST_F(Npy, RefusesSizesBeyondMemory) {
  writeFile("{'descr': '<f4', 'fortran_order': False, "
            "'shape': (99999999999, 99999999999), }",
            "12345678");
  EXPECT_EQ(readError(Element::F32, {-1, -1}),
            "it has 8 bytes of data, but its shape needs more than 2^64");
}

TEST_F(Npy, RefusesOddBooleans) {
  writeFile("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }",
            llvm::StringRef("\1\2", 2));
  EXPECT_EQ(readError(Element::I1, {2}),
            "an element is neither 0 nor 1, and the function takes i1");
}

TEST_F(Npy, ReportsWhereItCannotWrite) {
  llvm::Error error =
      writeNpy(path + ".none/out.npy", HostTensor(Element::F32, {1}));
  EXPECT_EQ(llvm::toString(std::move(error)),
            path + ".none/out.npy: No such file or directory");
}
