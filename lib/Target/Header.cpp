//===- Header.cpp - The C header of an artefact ---------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Header.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace mlir;
using namespace vcattn;

static constexpr llvm::StringLiteral kDescriptorText = R"(
/* A tensor, as MLIR's memref descriptor. Element [i0, i1, ...] is at
 * data + offset + i0 * strides[0] + i1 * strides[1] + ...; offset and strides
 * count elements and may be any, so that a transposed or sliced tensor needs no
 * copy. `allocated` is not read.
 */
)";

static constexpr llvm::StringLiteral kGPUText = R"(
/* Every function returns 0, or an error code that vcattn_last_error() explains
 * in one line. It only launches kernels on `stream` (a CUstream or cudaStream_t;
 * NULL is the default stream) in the current CUDA context, or, if there is none,
 * in device 0's primary context, and does not wait for them. Tensors and the
 * workspace are memory of that device; the workspace is aligned to 256 bytes (as
 * cudaMalloc's memory is), and may be used again by what follows on the stream.
 * The first call in a context loads the kernels; later ones allocate nothing.
 */
const char *vcattn_last_error(void);
)";

static constexpr llvm::StringLiteral kCPUText = R"(
/* Tensors are memory of the host. Arguments are only read. Results of fixed
 * shape are filled in; others are made, and each is released by
 * free(result.allocated).
 */
)";

bool vcattn::isCIdentifier(StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// How C programmers know an element type, and what stands in for it.
static std::string describe(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  Type element = type.getElementType();
  stream << element;
  if (element.isInteger(1))
    stream << " (one byte, 0 or 1)";
  else if (isa<Float8E4M3FNType>(element))
    stream << " (one byte: sign, 4 bits of exponent, 3 of mantissa)";
  else if (element.isBF16())
    stream << " (the upper half of a float)";
  stream << " [";
  llvm::interleaveComma(type.getShape(), stream, [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      stream << "any";
    else
      stream << size;
  });
  stream << "]";
  return text;
}

static std::string getStructName(RankedTensorType type) {
  return "vcattn_memref_" + std::to_string(type.getRank());
}

static void emitStructs(raw_ostream &os, ArrayRef<FunctionInfo> functions) {
  std::set<int64_t> ranks;
  for (const FunctionInfo &function : functions)
    for (const auto *types : {&function.inputs, &function.results})
      for (RankedTensorType type : *types)
        ranks.insert(type.getRank());
  os << kDescriptorText;
  for (int64_t rank : ranks) {
    os << "#ifndef VCATTN_MEMREF_" << rank << "\n#define VCATTN_MEMREF_" << rank
       << "\ntypedef struct vcattn_memref_" << rank
       << " {\n  void *allocated;\n  void *data;\n  int64_t offset;\n";
    if (rank > 0)
      os << "  int64_t sizes[" << rank << "];\n  int64_t strides[" << rank
         << "];\n";
    os << "} vcattn_memref_" << rank << ";\n#endif\n";
  }
}

/// The parameters `const vcattn_memref_4 *argument0, ...`.
static std::vector<std::string> getParameters(ArrayRef<RankedTensorType> types,
                                              StringRef name) {
  std::vector<std::string> parameters;
  for (auto [i, type] : llvm::enumerate(types))
    parameters.push_back("const " + getStructName(type) + " *" + name.str() +
                         std::to_string(i));
  return parameters;
}

static void emitParameters(raw_ostream &os, ArrayRef<std::string> parameters) {
  os << '(';
  llvm::interleave(parameters, os, ",\n    ");
  if (parameters.empty())
    os << "void";
  os << ");\n";
}

static void emitTypes(raw_ostream &os, const FunctionInfo &function) {
  os << "\n/* " << function.name << "\n";
  for (auto [i, type] : llvm::enumerate(function.inputs))
    os << " *   argument" << i << "  " << describe(type) << "\n";
  for (auto [i, type] : llvm::enumerate(function.results))
    os << " *   result" << i << "    " << describe(type) << "\n";
}

/// A call in full, as a comment.
static void emitExample(raw_ostream &os, const FunctionInfo &function) {
  os << " *\n * Example, with every tensor contiguous:\n *\n";
  std::string arguments;
  auto declare = [&](RankedTensorType type, const std::string &name) {
    os << " *   " << getStructName(type) << " " << name << " = {" << name
       << "_data, " << name << "_data, 0";
    if (type.getRank() > 0) {
      std::vector<std::string> sizes, strides;
      std::string stride = "1";
      for (int64_t i = type.getRank() - 1; i >= 0; --i) {
        std::string size = type.isDynamicDim(i)
                               ? "n" + std::to_string(i)
                               : std::to_string(type.getDimSize(i));
        strides.insert(strides.begin(), stride);
        sizes.insert(sizes.begin(), size);
        stride = stride == "1" ? size : size + " * " + stride;
      }
      os << ",\n *       {" << llvm::join(sizes, ", ") << "}, {"
         << llvm::join(strides, ", ") << "}";
    }
    os << "};\n";
    arguments += "&" + name + ", ";
  };
  for (auto [i, type] : llvm::enumerate(function.inputs))
    declare(type, "argument" + std::to_string(i));
  for (auto [i, type] : llvm::enumerate(function.results))
    declare(type, "result" + std::to_string(i));
  std::string sizeArguments = StringRef(arguments).drop_back(2).str();
  os << " *   int64_t size = " << function.name << "_workspace_size("
     << sizeArguments << ");\n *   void *workspace;\n"
     << " *   cudaMalloc(&workspace, size);\n *   if (" << function.name << "("
     << arguments << "workspace, size, stream) != 0)\n"
     << " *     fprintf(stderr, \"%s\\n\", vcattn_last_error());\n";
}

static void emitGPUFunction(raw_ostream &os, const FunctionInfo &function) {
  emitTypes(os, function);
  emitExample(os, function);
  os << " */\n";
  if (function.workspaceSize)
    os << "#define " << StringRef(function.name).upper() << "_WORKSPACE_SIZE "
       << *function.workspaceSize << "\n";
  std::vector<std::string> parameters =
      getParameters(function.inputs, "argument");
  llvm::append_range(parameters, getParameters(function.results, "result"));
  os << "int64_t " << function.name << "_workspace_size";
  emitParameters(os, parameters);
  parameters.insert(
      parameters.end(),
      {"void *workspace", "size_t workspace_size", "void *stream"});
  os << "int32_t " << function.name;
  emitParameters(os, parameters);
}

static void emitCPUFunction(raw_ostream &os, const FunctionInfo &function) {
  emitTypes(os, function);
  os << " */\n";
  bool isStatic = llvm::all_of(function.results, [](RankedTensorType type) {
    return type.hasStaticShape();
  });
  std::vector<std::string> parameters =
      getParameters(function.inputs, "argument");
  if (isStatic) {
    llvm::append_range(parameters, getParameters(function.results, "result"));
  } else if (function.results.size() == 1) {
    parameters.insert(parameters.begin(),
                      getStructName(function.results.front()) + " *result0");
  } else {
    os << "typedef struct " << function.name << "_results {\n";
    for (auto [i, type] : llvm::enumerate(function.results))
      os << "  " << getStructName(type) << " result" << i << ";\n";
    os << "} " << function.name << "_results;\n";
    parameters.insert(parameters.begin(), function.name + "_results *results");
  }
  os << "void _mlir_ciface_" << function.name;
  emitParameters(os, parameters);
}

std::string vcattn::emitHeader(ArrayRef<FunctionInfo> functions,
                               StringRef target) {
  std::string text;
  llvm::raw_string_ostream os(text);
  std::string guard = "VCATTN_" + target.upper();
  for (const FunctionInfo &function : functions)
    guard += "_" + StringRef(function.name).upper();
  guard += "_H";
  os << "/* Made by vcattn-compile for " << target << ". */\n\n#ifndef "
     << guard << "\n#define " << guard
     << "\n\n#include <stddef.h>\n#include <stdint.h>\n\n"
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  emitStructs(os, functions);
  bool isCPU = target == "cpu";
  os << (isCPU ? kCPUText : kGPUText);
  for (const FunctionInfo &function : functions)
    isCPU ? emitCPUFunction(os, function) : emitGPUFunction(os, function);
  os << "\n#ifdef __cplusplus\n}\n#endif\n\n#endif /* " << guard << " */\n";
  return text;
}
