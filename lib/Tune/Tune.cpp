//===- Tune.cpp - Finding schedules by measuring --------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Tune/Tune.h"
#include "TuningCase.h"
#include "vcattn/Device/CompiledFunction.h"
#include "vcattn/Device/CudaDriver.h"
#include "vcattn/Device/Descriptor.h"
#include "vcattn/Target/TargetInfo.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir;
using namespace vcattn;

namespace {
/// A schedule with what it took.
struct Timing {
  ScheduleAttr schedule;
  double milliseconds;
};

/// Device memory of some tensors, with their descriptors.
class DeviceTensors {
public:
  explicit DeviceTensors(CudaDriver &driver) : driver(driver) {}

  llvm::Error add(TypeRange types);
  /// Fills the i-th tensor with copies of `bytes`, one after the other.
  llvm::Error fill(size_t i, ArrayRef<char> bytes);
  std::vector<void *> getPointers();

private:
  CudaDriver &driver;
  std::vector<DeviceBuffer> buffers;
  std::vector<int64_t> sizes;
  std::vector<Descriptor> descriptors;
};

/// Times the kernels of one attention.
class KernelTimer {
public:
  KernelTimer(CudaDriver &driver, TuningCase &x, const TuneOptions &options)
      : driver(driver), x(x), options(options), operands(driver) {}

  /// Makes the operands.
  llvm::Error prepare();
  /// The kernel under `schedule`.
  llvm::Expected<CompiledFunction> compile(ScheduleAttr schedule);
  /// Milliseconds of one call of it.
  llvm::Expected<double> time(const CompiledFunction &function);

private:
  llvm::Expected<CompiledFunction> compile(ModuleOp module, StringRef name);
  llvm::Error runFor(double seconds, int64_t batch,
                     llvm::function_ref<llvm::Error()> call, double &spent,
                     int64_t &calls);

  CudaDriver &driver;
  TuningCase &x;
  const TuneOptions &options;
  /// The kernel's arguments and results.
  DeviceTensors operands;
};
} // namespace

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

llvm::Error DeviceTensors::add(TypeRange types) {
  for (Type type : types) {
    auto tensor = cast<RankedTensorType>(type);
    int64_t bytes = tensor.getNumElements() *
                    llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
    auto buffer = DeviceBuffer::allocate(driver, bytes);
    if (!buffer)
      return buffer.takeError();
    descriptors.emplace_back(buffer->getPointer(), tensor.getShape());
    buffers.push_back(std::move(*buffer));
    sizes.push_back(bytes);
  }
  return llvm::Error::success();
}

llvm::Error DeviceTensors::fill(size_t i, ArrayRef<char> bytes) {
  for (int64_t done = 0; done < sizes[i];
       done += static_cast<int64_t>(bytes.size())) {
    size_t size = std::min<size_t>(bytes.size(), sizes[i] - done);
    if (llvm::Error error = driver.copyToDevice(buffers[i].get() + done,
                                                bytes.take_front(size)))
      return error;
  }
  return llvm::Error::success();
}

std::vector<void *> DeviceTensors::getPointers() {
  std::vector<void *> pointers;
  pointers.reserve(descriptors.size());
  for (Descriptor &descriptor : descriptors)
    pointers.push_back(descriptor.get());
  return pointers;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

llvm::Expected<CompiledFunction> KernelTimer::compile(ModuleOp module,
                                                      StringRef name) {
  CompileOptions compile = options.compile;
  compile.emit = EmitKind::SharedLibrary;
  compile.runMethod = false;
  compile.schedule.clear();
  auto artifact = compileModule(module, compile);
  if (failed(artifact))
    return llvm::createStringError("@" + name + " was not compiled");
  return CompiledFunction::load(artifact->bytes, name);
}

llvm::Error KernelTimer::prepare() {
  func::FuncOp kernel = x.getKernel();
  if (llvm::Error error = operands.add(kernel.getArgumentTypes()))
    return error;
  if (llvm::Error error = operands.add(kernel.getResultTypes()))
    return error;

  // One head's worth of normal numbers serves all.
  AttentionProblem small = x.problem;
  small.batch = small.queryHeads = small.keyHeads = 1;
  small.queries = std::min<int64_t>(small.queries, 8192);
  small.keys = std::min<int64_t>(small.keys, 8192);
  std::optional<Element> element = getElement(x.element);
  if (!element)
    return llvm::createStringError("cannot make inputs of this element type");
  AttentionInputs inputs =
      generateInputs(small, InputKind::Gaussian, *element, /*seed=*/1);
  func::FuncOp pack = x.getPack();
  DeviceTensors sources(driver);
  if (llvm::Error error = sources.add(pack.getArgumentTypes()))
    return error;
  const HostTensor *tensors[] = {&inputs.query, &inputs.key, &inputs.value};
  for (auto [i, tensor] : llvm::enumerate(tensors))
    if (llvm::Error error = sources.fill(i, tensor->bytes))
      return error;

  auto function = compile(*x.pack, "pack");
  if (!function)
    return function.takeError();
  std::vector<void *> arguments = sources.getPointers();
  std::vector<void *> packed = operands.getPointers();
  packed.resize(packed.size() - kernel.getNumResults());
  llvm::append_range(arguments, packed);
  auto size = function->getWorkspaceSize(arguments);
  if (!size)
    return size.takeError();
  auto workspace = DeviceBuffer::allocate(driver, *size);
  if (!workspace)
    return workspace.takeError();
  if (llvm::Error error =
          function->launch(arguments, workspace->getPointer(), *size))
    return error;
  return driver.synchronize();
}

llvm::Error KernelTimer::runFor(double seconds, int64_t batch,
                                llvm::function_ref<llvm::Error()> call,
                                double &spent, int64_t &calls) {
  using Clock = std::chrono::steady_clock;
  auto start = Clock::now();
  calls = 0;
  do {
    for (int64_t i = 0; i < batch; ++i)
      if (llvm::Error error = call())
        return error;
    calls += batch;
    if (llvm::Error error = driver.synchronize())
      return error;
    spent = std::chrono::duration<double>(Clock::now() - start).count();
  } while (spent < seconds);
  return llvm::Error::success();
}

llvm::Expected<CompiledFunction> KernelTimer::compile(ScheduleAttr schedule) {
  OwningOpRef<ModuleOp> module = x.kernel->clone();
  module->walk([&](PackedAttentionOp op) { op.setScheduleAttr(schedule); });
  return compile(*module, "kernel");
}

llvm::Expected<double> KernelTimer::time(const CompiledFunction &function) {
  std::vector<void *> arguments = operands.getPointers();
  auto size = function.getWorkspaceSize(arguments);
  if (!size)
    return size.takeError();
  auto workspace = DeviceBuffer::allocate(driver, *size);
  if (!workspace)
    return workspace.takeError();
  auto call = [&] {
    return function.launch(arguments, workspace->getPointer(), *size);
  };
  // The first call loads the kernel; the second tells how many calls make 20
  // ms, so that waiting for them costs nothing.
  double spent;
  int64_t calls;
  for (int i = 0; i < 2; ++i)
    if (llvm::Error error = runFor(0, 1, call, spent, calls))
      return std::move(error);
  auto batch =
      static_cast<int64_t>(std::clamp(0.02 / std::max(spent, 1e-6), 1., 1000.));
  for (double seconds : {options.warmup, options.window})
    if (llvm::Error error = runFor(seconds, batch, call, spent, calls))
      return std::move(error);
  return 1e3 * spent / calls;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// Floating-point operations of both products.
static double countOperations(const AttentionProblem &problem) {
  double pairs = 0;
  for (int64_t i = 0; i < problem.queries; ++i)
    pairs += problem.countVisibleKeys(i);
  return 2.0 * problem.batch * problem.queryHeads * pairs *
         (problem.dim + problem.valueDim);
}

static void printTable(const TuningCase &x, ArrayRef<Timing> timings,
                       double base, llvm::raw_ostream &os) {
  const AttentionProblem &p = x.problem;
  os << llvm::formatv("{0} x {1} heads ({2} of keys), {3} queries, {4} keys; "
                      "{5}\n",
                      p.batch, p.queryHeads, p.keyHeads, p.queries, p.keys,
                      x.key.print());
  os << llvm::formatv("{0,10} {1,9} {2,9}  {3}\n", "ms", "TFLOP/s", "relative",
                      "schedule");
  double operations = countOperations(p);
  for (const Timing &timing : timings)
    os << llvm::formatv("{0,10:F4} {1,9:F0} {2,9:F3}  {3}\n",
                        timing.milliseconds,
                        operations / std::max(timing.milliseconds, 1e-6) * 1e-9,
                        base / std::max(timing.milliseconds, 1e-6),
                        ScheduleChoices::of(timing.schedule).print());
}

/// Compiles a kernel; what stands against it becomes the error, since other
/// schedules may still do.
static llvm::Expected<CompiledFunction> compileQuietly(KernelTimer &timer,
                                                       ScheduleAttr schedule) {
  std::string problem;
  ScopedDiagnosticHandler handler(
      schedule.getContext(), [&](Diagnostic &diagnostic) {
        if (problem.empty())
          problem = StringRef(diagnostic.str()).split('\n').first.str();
        return success();
      });
  auto function = timer.compile(schedule);
  if (function || problem.empty())
    return function;
  llvm::consumeError(function.takeError());
  return llvm::createStringError(problem);
}

/// Times the candidates.
static FailureOr<std::vector<Timing>> tuneCase(TuningCase &x,
                                               CudaDriver &driver,
                                               const TuneOptions &options,
                                               llvm::raw_ostream &progress) {
  auto fail = [&](llvm::Error error) {
    return emitError(x.loc, llvm::toString(std::move(error)));
  };
  auto candidates = getCandidates(x, options);
  if (failed(candidates))
    return failure();
  KernelTimer timer(driver, x, options);
  if (llvm::Error error = timer.prepare())
    return fail(std::move(error));
  std::vector<Timing> timings;
  for (auto [i, schedule] : llvm::enumerate(*candidates)) {
    progress << llvm::formatv("{0} of {1}: {2}\n", i + 1, candidates->size(),
                              ScheduleChoices::of(schedule).print());
    auto function = compileQuietly(timer, schedule);
    if (!function && i > 0) {
      progress << "  passed over: " << llvm::toString(function.takeError())
               << "\n";
      continue;
    }
    if (!function)
      return fail(function.takeError());
    auto milliseconds = timer.time(*function);
    if (!milliseconds)
      return fail(milliseconds.takeError());
    timings.push_back({schedule, *milliseconds});
  }
  return timings;
}

LogicalResult vcattn::tune(ModuleOp module, const TuneOptions &options,
                           llvm::raw_ostream &table,
                           llvm::raw_ostream &progress) {
  auto fail = [&](llvm::Error error) -> LogicalResult {
    return emitError(module.getLoc(), llvm::toString(std::move(error)));
  };
  auto cases = collectTuningCases(module, options);
  if (failed(cases))
    return failure();
  ScheduleFile file;
  if (!options.file.empty() && llvm::sys::fs::exists(options.file)) {
    auto known = ScheduleFile::read(options.file);
    if (!known)
      return fail(known.takeError());
    file = std::move(*known);
  }
  auto driver = CudaDriver::load("--tune");
  if (!driver)
    return fail(driver.takeError());
  if ((*driver)->getCapability() != 90 || options.compile.target != "sm_90a")
    return emitError(module.getLoc(), "--tune: this GPU, ")
           << (*driver)->getDeviceName() << ", does not run kernels for "
           << options.compile.target;
  for (TuningCase &x : *cases) {
    auto timings = tuneCase(x, **driver, options, progress);
    if (failed(timings))
      return failure();
    double base = timings->front().milliseconds;
    llvm::sort(*timings, [](const Timing &a, const Timing &b) {
      return a.milliseconds < b.milliseconds;
    });
    printTable(x, *timings, base, table);
    const Timing &best = timings->front();
    file.set({x.key, ScheduleChoices::of(best.schedule),
              (*driver)->getDeviceName(), best.milliseconds});
  }
  if (options.file.empty())
    return success();
  if (llvm::Error error = file.write(options.file))
    return fail(std::move(error));
  return success();
}
