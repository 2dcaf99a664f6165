//===- Quantize.cpp - quantize as loops -----------------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First the largest magnitudes that share a scale, then scales and their
// inverses, then codes. With one scale per token all of that is one loop over
// rows. Maxima have no order to keep: NaN or the largest, however they meet.
//
//===----------------------------------------------------------------------===//

#include "LoopBuilder.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "vcattn/Conversion/NarrowFloat.h"

using namespace mlir;
using namespace vcattn;

/// Least magnitude that a scale is made from: it and its inverse stay normal.
static constexpr double kLeastMagnitude = 0x1p-96;
/// Means that share a value scale are stored as f16, below this.
static constexpr double kMeanLimit = 32768.0;
static constexpr int64_t kMicroBlock = 16;

namespace {
class QuantizeLowering {
public:
  QuantizeLowering(LoopBuilder &b, QuantizeOp op)
      : b(b), op(op), input(op.getInput()), layout(op.getLayout()),
        format(op.getFormat()), n(b.sizes(input, layout)),
        width(format == Format::E2M1 && b.options.vectorWidth > 0
                  ? kMicroBlock
                  : b.width(n.dim)),
        lanes(LoopBuilder::lanes(width)) {}

  SmallVector<Value> lower();

private:
  using Slices = SmallVector<LoopBuilder::Slice>;

  /// `width` channels at `at`, 0 if the token does not count.
  SmallVector<Value> readTokens(TokenIndex at, int64_t width);
  Value reduceMax(ArrayRef<Value> vectors);
  SmallVector<Value> magnitudes(ArrayRef<Value> x);
  double top() const {
    return format == Format::I8     ? 127.0
           : format == Format::E4M3 ? 448.0
                                    : 6.0 * 448.0;
  }

  Value rowMaxima();
  Value maximaOverTokens(Value rows);
  Value blockMaxima();
  Value channelMaxima();

  /// (scale, inverse) of largest magnitudes.
  std::pair<Value, Value> scaleOf(Value magnitude);
  SmallVector<Value> scaleTensors(Value maxima);
  Slices emitCodes(TokenIndex at, int64_t width, ArrayRef<Value> x,
                   ArrayRef<Value> scales, ArrayRef<Value> inverses,
                   Value codes, Value micro);
  SmallVector<Value> lowerTokens();
  SmallVector<Value> outputs();

  LoopBuilder &b;
  QuantizeOp op;
  Value input;
  Layout layout;
  Format format;
  TokenSizes n;
  int64_t width, lanes;
};
} // namespace

SmallVector<Value> QuantizeLowering::readTokens(TokenIndex at, int64_t width) {
  SmallVector<Value> x = b.readF32(input, at.in(layout), width, lanes);
  if (!op.getLengths())
    return x;
  Value tokens = b.countedTokens(op.getLengths(), at.batch, n.tokens);
  Value counts = b.cmpI(arith::CmpIPredicate::slt, at.token, tokens);
  for (Value &value : x)
    value = b.select(counts, value, b.floatConstant(value.getType(), 0.0));
  return x;
}

SmallVector<Value> QuantizeLowering::magnitudes(ArrayRef<Value> x) {
  SmallVector<Value> result;
  for (Value value : x)
    result.push_back(b.absF(value));
  return result;
}

Value QuantizeLowering::reduceMax(ArrayRef<Value> vectors) {
  auto max = [&](Value x, Value y) { return b.maximum(x, y); };
  return b.reduce(b.combine(vectors, max), max);
}

/// Uninitialized codes and, in E2M1, micro scales.
SmallVector<Value> QuantizeLowering::outputs() {
  auto shaped = [&](Value result) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<Value> sizes;
    for (int64_t i = 0; i < 3; ++i)
      sizes.push_back(b.dim(input, i));
    int64_t perByte = type == op.getCodes().getType() ? 2 : kMicroBlock;
    int64_t bytes = format == Format::E2M1 ? n.dim / perByte : n.dim;
    sizes.push_back(b.index(bytes));
    return b.options.forGPU ? b.emptyRows(sizes, bytes, type.getElementType())
                            : b.empty(sizes, type.getElementType());
  };
  SmallVector<Value> result{shaped(op.getCodes())};
  if (op.getMicroScales())
    result.push_back(shaped(op.getMicroScales()));
  return result;
}

//===----------------------------------------------------------------------===//
// Largest magnitudes
//===----------------------------------------------------------------------===//

/// Per token: [B, H, N].
Value QuantizeLowering::rowMaxima() {
  Value result = b.empty({n.batch, n.heads, n.tokens}, b.getF32Type());
  return b.forall({n.batch, n.heads, n.tokens}, {result},
                  [&](ArrayRef<Value> i, ArrayRef<Value> out) {
                    TokenIndex at{i[0], i[1], i[2], b.index(0)};
                    Value max = reduceMax(magnitudes(readTokens(at, n.dim)));
                    LoopBuilder::Slice slice = b.row(out[0], i, 1);
                    slice.tensor = b.insert(max, slice.tensor, {b.index(0)});
                    return Slices{slice};
                  })[0];
}

/// [B, H, N] -> [B, H], by blocks of tokens so that no iteration sees them all.
Value QuantizeLowering::maximaOverTokens(Value rows) {
  Value zero = b.floatConstant(b.getF32Type(), 0.0);
  auto maxOver = [&](Value from, Value batch, Value head, Value first,
                     Value last) {
    return b.loop(first, last, {zero}, [&](Value t, ArrayRef<Value> max) {
      return SmallVector<Value>{
          b.maximum(max[0], b.extract(from, {batch, head, t}))};
    })[0];
  };
  Value blocks = b.ceilDiv(n.tokens, kBlockTokens);
  Value partial = b.empty({n.batch, n.heads, blocks}, b.getF32Type());
  partial =
      b.forall({n.batch, n.heads, blocks}, {partial},
               [&](ArrayRef<Value> i, ArrayRef<Value> out) {
                 Value first = b.mul(i[2], b.index(kBlockTokens));
                 Value last =
                     b.minS(b.add(first, b.index(kBlockTokens)), n.tokens);
                 LoopBuilder::Slice slice = b.row(out[0], i, 1);
                 slice.tensor = b.insert(maxOver(rows, i[0], i[1], first, last),
                                         slice.tensor, {b.index(0)});
                 return Slices{slice};
               })[0];
  Value result = b.empty({n.batch, n.heads}, b.getF32Type());
  return b.forall({n.batch, n.heads}, {result},
                  [&](ArrayRef<Value> i, ArrayRef<Value> out) {
                    LoopBuilder::Slice slice = b.row(out[0], i, 1);
                    slice.tensor = b.insert(
                        maxOver(partial, i[0], i[1], b.index(0), blocks),
                        slice.tensor, {b.index(0)});
                    return Slices{slice};
                  })[0];
}

/// Per group of tokens of a block: [B, H, blocks, groups].
Value QuantizeLowering::blockMaxima() {
  Value rows = rowMaxima();
  int64_t size = op.getBlockSize(), groups = op.getGroups();
  Value blocks = b.ceilDiv(n.tokens, size);
  Value result =
      b.empty({n.batch, n.heads, blocks, b.index(groups)}, b.getF32Type());
  return b.forall({n.batch, n.heads, blocks, b.index(groups)}, {result},
                  [&](ArrayRef<Value> i, ArrayRef<Value> out) {
                    // Pairs of tokens, 2 * groups apart. A pair's second token
                    // may be past the end: its first one then stands for both.
                    Value start = b.mul(i[2], b.index(size));
                    Value end = b.minS(b.add(start, b.index(size)), n.tokens);
                    Value first = b.add(start, b.mul(i[3], b.index(2)));
                    Value max = b.loop(
                        first, end, {b.floatConstant(b.getF32Type(), 0.0)},
                        [&](Value t, ArrayRef<Value> max) {
                          Value next = b.minS(b.add(t, b.index(1)),
                                              b.sub(n.tokens, b.index(1)));
                          Value pair =
                              b.maximum(b.extract(rows, {i[0], i[1], t}),
                                        b.extract(rows, {i[0], i[1], next}));
                          return SmallVector<Value>{b.maximum(max[0], pair)};
                        },
                        2 * groups)[0];
                    LoopBuilder::Slice slice = b.row(out[0], i, 1);
                    slice.tensor = b.insert(max, slice.tensor, {b.index(0)});
                    return Slices{slice};
                  })[0];
}

/// Per channel: [B, H, D], raised to what the bound asks for.
Value QuantizeLowering::channelMaxima() {
  auto vector = VectorType::get({lanes}, b.getF32Type());
  SmallVector<Value> zeros(width / lanes, b.floatConstant(vector, 0.0));
  Value parts = b.index(n.dim / width);
  /// The maximum of magnitudes over an index of `from`, `width` channels wide.
  auto maxOver = [&](Value from, Value first, Value last,
                     function_ref<SmallVector<Value>(Value)> at) {
    return b.loop(first, last, zeros, [&](Value k, ArrayRef<Value> max) {
      SmallVector<Value> x = magnitudes(b.readF32(from, at(k), width, lanes));
      for (auto [value, old] : llvm::zip_equal(x, max))
        value = b.maximum(old, value);
      return x;
    });
  };
  Value blocks = b.ceilDiv(n.tokens, kBlockTokens);
  Value partial =
      b.empty({n.batch, n.heads, blocks, b.index(n.dim)}, b.getF32Type());
  partial = b.forall(
      {n.batch, n.heads, blocks, parts}, {partial},
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        Value channel = b.mul(i[3], b.index(width));
        auto [first, last] =
            b.tokensOfPart(i[2], kBlockTokens,
                           b.countedTokens(op.getLengths(), i[0], n.tokens));
        SmallVector<Value> max = maxOver(input, first, last, [&](Value token) {
          return TokenIndex{i[0], i[1], token, channel}.in(layout);
        });
        LoopBuilder::Slice slice =
            b.row(out[0], {i[0], i[1], i[2], channel}, width);
        slice.tensor = b.writeAll(max, slice.tensor, {b.index(0)});
        return Slices{slice};
      })[0];
  Value result = b.empty({n.batch, n.heads, b.index(n.dim)}, b.getF32Type());
  return b.forall(
      {n.batch, n.heads, parts}, {result},
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        Value channel = b.mul(i[2], b.index(width));
        auto at = [&](Value block) {
          return SmallVector<Value>{i[0], i[1], block, channel};
        };
        SmallVector<Value> max = maxOver(partial, b.index(0), blocks, at);
        if (Value bound = op.getBound()) {
          SmallVector<Value> means =
              maxOver(bound, b.index(0), b.dim(bound, 2), at);
          // Not to fall below 2^-96 is left to the scale, as the maximum of
          // three has no order.
          Value ratio =
              b.floatConstant(vector, static_cast<float>(448.0 / kMeanLimit));
          for (auto [value, mean] : llvm::zip_equal(max, means))
            value = b.maximum(value, b.mulF(mean, ratio));
        }
        LoopBuilder::Slice slice = b.row(out[0], {i[0], i[1], channel}, width);
        slice.tensor = b.writeAll(max, slice.tensor, {b.index(0)});
        return Slices{slice};
      })[0];
}

//===----------------------------------------------------------------------===//
// Scales and codes
//===----------------------------------------------------------------------===//

std::pair<Value, Value> QuantizeLowering::scaleOf(Value magnitude) {
  Type type = magnitude.getType();
  Value a = b.maximum(magnitude, b.floatConstant(type, kLeastMagnitude));
  Value largest = b.floatConstant(type, top());
  return {b.divF(a, largest), b.divF(largest, a)};
}

/// Maxima of any shape -> scales and inverses of the same shape.
SmallVector<Value> QuantizeLowering::scaleTensors(Value maxima) {
  int64_t rank = cast<ShapedType>(maxima.getType()).getRank();
  SmallVector<Value> bounds;
  for (int64_t i = 0; i < rank; ++i)
    bounds.push_back(b.dim(maxima, i));
  return b.forall(bounds,
                  {b.emptyLike(maxima, b.getF32Type()),
                   b.emptyLike(maxima, b.getF32Type())},
                  [&](ArrayRef<Value> i, ArrayRef<Value> out) {
                    auto [scale, inverse] = scaleOf(b.extract(maxima, i));
                    Slices slices{b.row(out[0], i, 1), b.row(out[1], i, 1)};
                    slices[0].tensor =
                        b.insert(scale, slices[0].tensor, {b.index(0)});
                    slices[1].tensor =
                        b.insert(inverse, slices[1].tensor, {b.index(0)});
                    return slices;
                  });
}

/// Codes (and micro scales) of `x`, `width` channels at `at`; `scales` and
/// `inverses` are one vector per vector of `x`.
QuantizeLowering::Slices
QuantizeLowering::emitCodes(TokenIndex at, int64_t width, ArrayRef<Value> x,
                            ArrayRef<Value> scales, ArrayRef<Value> inverses,
                            Value codes, Value micro) {
  auto scaledAt = [&](int64_t perElement) {
    TokenIndex scaled = at;
    scaled.channel =
        b.createOrFold<arith::DivUIOp>(at.channel, b.index(perElement));
    return scaled.in(layout);
  };
  if (format != Format::E2M1) {
    LoopBuilder::Slice slice = b.row(codes, at.in(layout), width);
    SmallVector<Value> rounded;
    for (auto [value, inverse] : llvm::zip_equal(x, inverses)) {
      Value scaled = b.mulF(value, inverse);
      rounded.push_back(format == Format::I8
                            ? emitI8FromF32(b, scaled)
                            : b.bitcast(emitE4M3FromF32(b, scaled),
                                        Float8E4M3FNType::get(b.getContext())));
    }
    slice.tensor = b.writeAll(rounded, slice.tensor, {b.index(0)});
    return {slice};
  }

  Slices slices{b.row(codes, scaledAt(2), width / 2),
                b.row(micro, scaledAt(kMicroBlock), width / kMicroBlock)};
  SmallVector<Value> packed;
  SmallVector<int64_t> even, odd;
  for (int64_t i = 0; i < kMicroBlock; i += 2) {
    even.push_back(i);
    odd.push_back(i + 1);
  }
  for (auto [i, value] : llvm::enumerate(x)) {
    Type f32 = b.getF32Type();
    Value scale = vector::ExtractOp::create(b, scales[i], 0);
    Value largest =
        b.divF(reduceMax(magnitudes(value)), b.floatConstant(f32, 6.0));
    Value code = emitE4M3FromF32(b, b.divF(largest, scale));
    Value step = b.mulF(emitF32FromE4M3(b, code), scale);
    Value nibbles =
        emitE2M1FromF32(b, b.divF(value, b.splat(step, kMicroBlock)));
    Value isZero = b.cmpI(arith::CmpIPredicate::eq, code,
                          b.intConstant(code.getType(), 0));
    nibbles = b.select(isZero, b.intConstant(nibbles.getType(), 0), nibbles);
    Value low = vector::ShuffleOp::create(b, nibbles, nibbles, even);
    Value high = vector::ShuffleOp::create(b, nibbles, nibbles, odd);
    packed.push_back(b.orI(low, b.shl(high, 4)));
    slices[1].tensor =
        b.insert(b.bitcast(code, Float8E4M3FNType::get(b.getContext())),
                 slices[1].tensor, {b.index(i)});
  }
  slices[0].tensor = b.writeAll(packed, slices[0].tensor, {b.index(0)});
  return slices;
}

/// One scale per token: a row at a time.
SmallVector<Value> QuantizeLowering::lowerTokens() {
  SmallVector<Value> out = outputs();
  out.push_back(b.empty({n.batch, n.heads, n.tokens}, b.getF32Type()));
  SmallVector<Value> results =
      b.forall({n.batch, n.heads, n.tokens}, out,
               [&](ArrayRef<Value> i, ArrayRef<Value> out) {
                 TokenIndex at{i[0], i[1], i[2], b.index(0)};
                 SmallVector<Value> x = readTokens(at, n.dim);
                 auto [scale, inverse] = scaleOf(reduceMax(magnitudes(x)));
                 SmallVector<Value> scales(x.size(), b.splat(scale, lanes));
                 SmallVector<Value> inverses(x.size(), b.splat(inverse, lanes));
                 Slices slices =
                     emitCodes(at, n.dim, x, scales, inverses, out[0],
                               format == Format::E2M1 ? out[1] : Value());
                 slices.push_back(b.row(out.back(), i, 1));
                 slices.back().tensor =
                     b.insert(scale, slices.back().tensor, {b.index(0)});
                 return slices;
               });
  // The op's order: codes, scales, micro scales.
  Value scales = results.pop_back_val();
  results.insert(results.begin() + 1, scales);
  return results;
}

SmallVector<Value> QuantizeLowering::lower() {
  Granularity granularity = op.getGranularity();
  if (granularity == Granularity::Token)
    return lowerTokens();
  Value maxima = granularity == Granularity::Tensor
                     ? maximaOverTokens(rowMaxima())
                 : granularity == Granularity::Block ? blockMaxima()
                                                     : channelMaxima();
  SmallVector<Value> scales = scaleTensors(maxima);
  SmallVector<Value> results = b.forall(
      {n.batch, n.heads, n.tokens, b.index(n.dim / width)}, outputs(),
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        TokenIndex at{i[0], i[1], i[2], b.mul(i[3], b.index(width))};
        SmallVector<Value> x = readTokens(at, width);
        auto scalesAt = [&](Value tensor) {
          SmallVector<Value> at2{i[0], i[1]};
          if (granularity == Granularity::Channel) {
            at2.push_back(at.channel);
            return b.readF32(tensor, at2, width, lanes);
          }
          if (granularity == Granularity::Block) {
            Value size = b.index(op.getBlockSize());
            Value pairs = b.index(2 * op.getGroups());
            at2.push_back(arith::DivUIOp::create(b, i[2], size));
            Value slot = arith::RemUIOp::create(
                b, arith::RemUIOp::create(b, i[2], size), pairs);
            at2.push_back(arith::DivUIOp::create(b, slot, b.index(2)));
          }
          return SmallVector<Value>(x.size(),
                                    b.splat(b.extract(tensor, at2), lanes));
        };
        bool micro = format == Format::E2M1;
        return emitCodes(at, width, x,
                         micro ? scalesAt(scales[0]) : SmallVector<Value>(),
                         micro ? SmallVector<Value>() : scalesAt(scales[1]),
                         out[0], micro ? out[1] : Value());
      });
  results.insert(results.begin() + 1, scales[0]);
  return results;
}

Lowered vcattn::lowerQuantize(LoopBuilder &b, QuantizeOp op) {
  if (failed(checkStaticDim(op, op.getInput(), "input")))
    return failure();
  if (op.getFormat() == Format::E2M1 &&
      op.getGranularity() == Granularity::Channel)
    return op.emitOpError("cannot be lowered to loops: f4E2M1FN shares micro "
                          "scales between channels and cannot have one scale "
                          "per channel");
  return QuantizeLowering(b, op).lower();
}
