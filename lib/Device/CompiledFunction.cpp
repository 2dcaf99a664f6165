//===- CompiledFunction.cpp - A function of a library, to be called -------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Device/CompiledFunction.h"
#include "vcattn/Runtime/vcattn_runtime.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"

using namespace vcattn;
using llvm::ArrayRef;
using llvm::Error;
using llvm::StringRef;

/// Arguments that a function may have: inputs and results, then a workspace,
/// its size and a stream.
static constexpr size_t kMostArguments = 20, kOwnArguments = 3;

static Error makeError(const llvm::Twine &text) {
  return llvm::createStringError(text);
}

/// vcattn_last_error of the first library that was loaded.
static const char *(*lastError)() = nullptr;

llvm::Expected<CompiledFunction> CompiledFunction::load(StringRef bytes,
                                                        StringRef name) {
  llvm::SmallString<128> path;
  int descriptor;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("vcattn", "so", descriptor, path))
    return makeError("cannot write the compiled library: " + error.message());
  llvm::FileRemover remover(path);
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  stream << bytes;
  stream.close();
  if (stream.has_error())
    return makeError(path + ": " + stream.error().message());
  std::string problem;
  auto library =
      llvm::sys::DynamicLibrary::getPermanentLibrary(path.c_str(), &problem);
  if (!library.isValid())
    return makeError("cannot load the compiled library: " + problem);
  CompiledFunction result;
  result.name = name.str();
  result.function = library.getAddressOfSymbol(result.name.c_str());
  result.workspaceSize =
      library.getAddressOfSymbol((name + "_workspace_size").str().c_str());
  // Each library has the runtime, but the first one's serves all of them.
  if (!lastError)
    lastError = reinterpret_cast<const char *(*)()>(
        library.getAddressOfSymbol("vcattn_last_error"));
  if (!result.function || !result.workspaceSize || !lastError)
    return makeError("the compiled library lacks @" + name);
  return result;
}

/// Calls a C function that takes `arguments`, pointers or 64-bit integers, all
/// of which are passed alike. The number is known only at run time; those past
/// the last are not looked at.
template <typename Result>
static Result callWith(void *function, ArrayRef<void *> given) {
  void *a[kMostArguments] = {};
  llvm::copy(given, a);
  using Type =
      Result (*)(void *, void *, void *, void *, void *, void *, void *, void *,
                 void *, void *, void *, void *, void *, void *, void *, void *,
                 void *, void *, void *, void *);
  return reinterpret_cast<Type>(function)(
      a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
      a[12], a[13], a[14], a[15], a[16], a[17], a[18], a[19]);
}

llvm::Expected<int64_t>
CompiledFunction::getWorkspaceSize(ArrayRef<void *> arguments) const {
  if (arguments.size() + kOwnArguments > kMostArguments)
    return makeError("@" + name + " has more than " +
                     llvm::Twine(kMostArguments - kOwnArguments) +
                     " arguments and results");
  return callWith<int64_t>(workspaceSize, arguments);
}

Error CompiledFunction::launch(ArrayRef<void *> arguments, void *workspace,
                               int64_t size) const {
  llvm::SmallVector<void *> all(arguments);
  all.push_back(workspace);
  all.push_back(reinterpret_cast<void *>(size));
  all.push_back(nullptr); // the default stream
  if (callWith<int32_t>(function, all) == VCATTN_SUCCESS)
    return Error::success();
  return makeError("@" + name + ": " + lastError());
}
