//===- Npy.cpp - NumPy's .npy files ---------------------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Support/Npy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace vcattn;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static constexpr StringRef kMagic("\x93NUMPY", 6);

static Error makeError(StringRef path, const Twine &why) {
  return llvm::createStringError(path + ": " + why);
}

/// The dtypes that hold an element; the first is the one that is written.
static ArrayRef<StringRef> getDtypes(Element element) {
  static const StringRef kI1[] = {"|b1", "|u1"}, kI8[] = {"|i1", "|u1"},
                         kI32[] = {"<i4"}, kI64[] = {"<i8"},
                         kF8[] = {"|u1", "|V1", "<V1", "<f1"}, kF16[] = {"<f2"},
                         kBF16[] = {"<u2", "|V2", "<V2"}, kF32[] = {"<f4"},
                         kF64[] = {"<f8"};
  switch (element) {
  case Element::I1:
    return kI1;
  case Element::I8:
    return kI8;
  case Element::I32:
    return kI32;
  case Element::I64:
    return kI64;
  case Element::F8E4M3FN:
    return kF8;
  case Element::F16:
    return kF16;
  case Element::BF16:
    return kBF16;
  case Element::F32:
    return kF32;
  case Element::F64:
    return kF64;
  }
  llvm_unreachable("all formats are listed");
}

namespace {
/// The header's dictionary: a Python literal with three known keys, in any
/// order and spacing.
class HeaderParser {
public:
  HeaderParser(StringRef path, StringRef text) : path(path), rest(text) {}

  Error parse();

  std::string dtype;
  bool fortranOrder = false;
  llvm::SmallVector<int64_t> shape;

private:
  bool take(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  Error fail(const Twine &why) {
    return makeError(path, "bad .npy header: " + why);
  }
  Error parseString(std::string &value);
  Error parseShape();

  StringRef path, rest;
};
} // namespace

Error HeaderParser::parseString(std::string &value) {
  char quote = take("'") ? '\'' : take("\"") ? '"' : '\0';
  size_t end = quote ? rest.find(quote) : StringRef::npos;
  if (end == StringRef::npos)
    return fail("expected a string");
  value = rest.take_front(end).str();
  rest = rest.drop_front(end + 1);
  return Error::success();
}

Error HeaderParser::parseShape() {
  if (!take("("))
    return fail("'shape' is not a tuple");
  while (!take(")")) {
    uint64_t size;
    rest = rest.ltrim();
    if (rest.consumeInteger(10, size) || size > (uint64_t(1) << 48))
      return fail("'shape' holds something that is no size");
    shape.push_back(size);
    if (!take(",")) {
      if (!take(")"))
        return fail("'shape' does not end");
      break;
    }
  }
  return Error::success();
}

Error HeaderParser::parse() {
  bool hasDtype = false, hasOrder = false, hasShape = false;
  if (!take("{"))
    return fail("no dictionary");
  while (!take("}")) {
    std::string key;
    if (Error error = parseString(key))
      return error;
    if (!take(":"))
      return fail("expected ':' after '" + key + "'");
    if (key == "descr") {
      hasDtype = true;
      if (take("["))
        return fail("structured arrays are not supported");
      if (Error error = parseString(dtype))
        return error;
    } else if (key == "fortran_order") {
      hasOrder = true;
      fortranOrder = take("True");
      if (!fortranOrder && !take("False"))
        return fail("'fortran_order' is neither True nor False");
    } else if (key == "shape") {
      hasShape = true;
      if (Error error = parseShape())
        return error;
    } else {
      return fail("unknown key '" + key + "'");
    }
    if (!take(",")) {
      if (!take("}"))
        return fail("the dictionary does not end");
      break;
    }
  }
  if (!hasDtype || !hasOrder || !hasShape)
    return fail("it lacks 'descr', 'fortran_order' or 'shape'");
  return Error::success();
}

static std::string formatShape(ArrayRef<int64_t> shape) {
  std::string text = "[";
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(shape, stream, [&](int64_t size) {
    size < 0 ? stream << "?" : stream << size;
  });
  return text + "]";
}

static Error checkHeader(StringRef path, const HeaderParser &header,
                         Element element, ArrayRef<int64_t> shape) {
  ArrayRef<StringRef> dtypes = getDtypes(element);
  if (!llvm::is_contained(dtypes, header.dtype))
    return makeError(path, "its dtype is '" + header.dtype + "', but " +
                               getName(element) + " is stored as " +
                               llvm::join(dtypes, " or "));
  if (header.fortranOrder)
    return makeError(path, "it is in Fortran order; save it with "
                           "numpy.ascontiguousarray");
  bool fits =
      header.shape.size() == shape.size() &&
      llvm::all_of(llvm::zip_equal(header.shape, shape), [](auto pair) {
        return std::get<1>(pair) < 0 || std::get<0>(pair) == std::get<1>(pair);
      });
  if (!fits)
    return makeError(path, "its shape is " + formatShape(header.shape) +
                               ", but the function takes " +
                               formatShape(shape));
  return Error::success();
}

Expected<HostTensor> vcattn::readNpy(StringRef path, Element element,
                                     ArrayRef<int64_t> shape) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return makeError(path, file.getError().message());
  StringRef data = (*file)->getBuffer();
  if (!data.consume_front(kMagic))
    return makeError(path, "not a .npy file");
  if (data.size() < 2)
    return makeError(path, "truncated in its header");
  unsigned major = static_cast<unsigned char>(data[0]);
  if (major < 1 || major > 3)
    return makeError(path, "unknown version " + Twine(major) + " of .npy");
  size_t lengthSize = major == 1 ? 2 : 4;
  data = data.drop_front(2);
  if (data.size() < lengthSize)
    return makeError(path, "truncated in its header");
  size_t length = major == 1 ? llvm::support::endian::read16le(data.data())
                             : llvm::support::endian::read32le(data.data());
  data = data.drop_front(lengthSize);
  if (data.size() < length)
    return makeError(path, "truncated in its header");

  HeaderParser header(path, data.take_front(length));
  if (Error error = header.parse())
    return std::move(error);
  if (Error error = checkHeader(path, header, element, shape))
    return std::move(error);
  data = data.drop_front(length);

  uint64_t bytes = getSize(element);
  bool overflow = false;
  for (int64_t size : header.shape) {
    bool now;
    bytes = llvm::SaturatingMultiply(bytes, uint64_t(size), &now);
    overflow |= now;
  }
  if (overflow || data.size() != bytes)
    return makeError(path,
                     "it has " + Twine(data.size()) +
                         " bytes of data, but its shape needs " +
                         (overflow ? "more than 2^64" : llvm::utostr(bytes)));
  if (element == Element::I1 &&
      llvm::any_of(data, [](char c) { return c != 0 && c != 1; }))
    return makeError(path, "an element is neither 0 nor 1, and the function "
                           "takes i1");
  HostTensor tensor;
  tensor.element = element;
  tensor.shape = header.shape;
  tensor.bytes.assign(data.begin(), data.end());
  return tensor;
}

Error vcattn::writeNpy(StringRef path, const HostTensor &tensor) {
  std::string shape;
  for (int64_t size : tensor.shape)
    shape += llvm::itostr(size) + ", ";
  std::string header =
      ("{'descr': '" + getDtypes(tensor.element).front() +
       "', 'fortran_order': False, 'shape': (" + shape + "), }")
          .str();
  // Data start at a multiple of 64 bytes.
  size_t length = llvm::alignTo(10 + header.size() + 1, 64) - 10;
  header.resize(length - 1, ' ');
  header += '\n';

  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (error)
    return makeError(path, error.message());
  char prefix[4] = {1, 0};
  llvm::support::endian::write16le(prefix + 2, length);
  stream << kMagic << StringRef(prefix, 4) << header;
  stream.write(tensor.bytes.data(), tensor.bytes.size());
  stream.close();
  if (stream.has_error()) {
    error = stream.error();
    stream.clear_error();
    return makeError(path, error.message());
  }
  return Error::success();
}
