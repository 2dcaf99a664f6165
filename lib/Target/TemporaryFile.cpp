//===- TemporaryFile.cpp - Files for other programs -----------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TemporaryFile.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace vcattn;

FailureOr<TemporaryFile>
TemporaryFile::create(StringRef suffix, StringRef contents, Location loc) {
  int descriptor;
  SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile(
          "vcattn", suffix, descriptor, path))
    return emitError(loc, "cannot make a temporary file: ") << error.message();
  TemporaryFile file(path);
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  stream << contents;
  stream.close();
  if (std::error_code error = stream.error()) {
    stream.clear_error();
    return emitError(loc, "cannot write ") << path << ": " << error.message();
  }
  return file;
}

FailureOr<std::string> TemporaryFile::read(Location loc) const {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return emitError(loc, "cannot read ")
           << path << ": " << buffer.getError().message();
  return (*buffer)->getBuffer().str();
}

FailureOr<std::string> vcattn::runProgram(StringRef program,
                                          ArrayRef<std::string> arguments,
                                          Location loc) {
  FailureOr<TemporaryFile> output = TemporaryFile::create("log", "", loc);
  if (failed(output))
    return failure();
  SmallVector<StringRef> all = {program};
  all.append(arguments.begin(), arguments.end());
  std::optional<StringRef> redirects[] = {StringRef(), output->getPath(),
                                          output->getPath()};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(program, all, /*Env=*/std::nullopt,
                                         redirects, /*SecondsToWait=*/0,
                                         /*MemoryLimit=*/0, &message);
  FailureOr<std::string> text = output->read(loc);
  if (failed(text))
    return failure();
  if (status != 0)
    return emitError(loc) << program << " failed"
                          << (message.empty() ? "" : " (" + message + ")")
                          << (text->empty() ? "" : ":\n")
                          << StringRef(*text).rtrim();
  return *text;
}
