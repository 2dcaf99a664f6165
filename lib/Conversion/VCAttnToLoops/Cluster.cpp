//===- Cluster.cpp - k-means and a stable sort as loops -------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything is deterministic: sums run over chunks of 1024 tokens in token
// order, then over the chunks in order; ties go to the lower cluster.
//
//===----------------------------------------------------------------------===//

#include "LoopBuilder.h"
#include "vcattn/Conversion/NarrowFloat.h"

using namespace mlir;
using namespace vcattn;

/// Tokens whose members are counted and summed by one iteration.
static constexpr int64_t kChunkTokens = 1024;

namespace {
/// The steps of the method for one op; each is one loop nest.
class ClusterBuilder {
public:
  ClusterBuilder(LoopBuilder &b, ClusterOp op)
      : b(b), value(op.getValue()), lengths(op.getLengths()),
        layout(op.getLayout()), n(b.sizes(value, layout)),
        clusters(op.getClusters()), width(b.width(n.dim)),
        lanes(LoopBuilder::lanes(width)),
        chunks(b.ceilDiv(n.tokens, kChunkTokens)), f32(b.getF32Type()),
        i32(b.getI32Type()) {}

  /// Evenly spaced rows, [B, H, clusters, D].
  Value initialCentroids();
  /// The nearest centroid of each token, [B, H, tokens].
  Value label(Value centroids);
  /// Members per chunk and cluster, [B, H, chunks, clusters].
  Value count(Value labels);
  /// Means of the members; an empty cluster keeps its centroid.
  Value update(Value labels, Value centroids);
  /// The stable argsort of the labels, [B, H, tokens].
  Value sort(Value labels);

private:
  /// Centroids with the cluster as the innermost dimension, so that one vector
  /// holds a channel of several of them.
  Value transpose(Value centroids);
  /// Squared lengths of the centroids, [B, H, clusters].
  Value squaredLengths(Value centroids);
  /// Each token in its place: where those that do not count stay.
  Value inPlace(Value out);
  /// Where each chunk's members of each cluster go in the sorted order.
  Value firstPositions(Value counts);

  /// Tokens of `batch` that count, and those of a chunk; after the last of the
  /// former, labels mean nothing.
  Value tokensOf(Value batch) {
    return b.countedTokens(lengths, batch, n.tokens);
  }
  std::pair<Value, Value> tokensOfChunk(Value batch, Value chunk) {
    return b.tokensOfPart(chunk, kChunkTokens, tokensOf(batch));
  }
  Value toIndex(Value a) {
    return arith::IndexCastOp::create(b, b.getIndexType(), a);
  }
  Value toI32(Value a) { return arith::IndexCastOp::create(b, i32, a); }
  SmallVector<Value> zeros() {
    return SmallVector<Value>(
        width / lanes, b.floatConstant(VectorType::get({lanes}, f32), 0.0));
  }
  SmallVector<Value> add(ArrayRef<Value> x, ArrayRef<Value> y) {
    SmallVector<Value> sums;
    for (auto [a, c] : llvm::zip_equal(x, y))
      sums.push_back(b.addF(a, c));
    return sums;
  }

  LoopBuilder &b;
  Value value, lengths;
  Layout layout;
  TokenSizes n;
  int64_t clusters, width, lanes;
  Value chunks;
  Type f32, i32;
};
} // namespace

Value ClusterBuilder::initialCentroids() {
  Value out =
      b.empty({n.batch, n.heads, b.index(clusters), b.index(n.dim)}, f32);
  return b.forall(
      {n.batch, n.heads, b.index(clusters), b.index(n.dim / width)}, {out},
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        Value channel = b.mul(i[3], b.index(width));
        Value tokens = tokensOf(i[0]);
        Value isEmpty = b.cmpI(arith::CmpIPredicate::eq, tokens, b.index(0));
        Value last = b.sub(tokens, b.index(1));
        Value token = arith::DivUIOp::create(
            b, b.mul(i[2], last), b.index(std::max<int64_t>(clusters - 1, 1)));
        auto read = [&] {
          TokenIndex at{i[0], i[1], token, channel};
          return b.readF32(value, at.in(layout), width, lanes);
        };
        SmallVector<Value> row =
            b.branch(isEmpty, [&] { return zeros(); }, read);
        auto slice = b.row(out[0], {i[0], i[1], i[2], channel}, width);
        slice.tensor = b.writeAll(row, slice.tensor, {b.index(0)});
        return SmallVector<LoopBuilder::Slice>{slice};
      })[0];
}

Value ClusterBuilder::transpose(Value centroids) {
  Value out =
      b.empty({n.batch, n.heads, b.index(n.dim), b.index(clusters)}, f32);
  return b.forall(
      {n.batch, n.heads, b.index(n.dim)}, {out},
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        auto slice = b.row(out[0], {i[0], i[1], i[2], b.index(0)}, clusters);
        slice.tensor =
            b.loop(b.index(0), b.index(clusters), {slice.tensor},
                   [&](Value cluster, ArrayRef<Value> row) {
                     Value x =
                         b.extract(centroids, {i[0], i[1], cluster, i[2]});
                     return SmallVector<Value>{b.insert(x, row[0], {cluster})};
                   })[0];
        return SmallVector<LoopBuilder::Slice>{slice};
      })[0];
}

Value ClusterBuilder::squaredLengths(Value centroids) {
  Value out = b.empty({n.batch, n.heads, b.index(clusters)}, f32);
  return b.forall({n.batch, n.heads, b.index(clusters)}, {out},
                  [&](ArrayRef<Value> i, ArrayRef<Value> out) {
                    Value sum = b.loop(
                        b.index(0), b.index(n.dim), {b.floatConstant(f32, 0.0)},
                        [&](Value channel, ArrayRef<Value> sum) {
                          Value x =
                              b.extract(centroids, {i[0], i[1], i[2], channel});
                          return SmallVector<Value>{b.fma(x, x, sum[0])};
                        })[0];
                    auto slice = b.row(out[0], i, 1);
                    slice.tensor = b.insert(sum, slice.tensor, {b.index(0)});
                    return SmallVector<LoopBuilder::Slice>{slice};
                  })[0];
}

Value ClusterBuilder::label(Value centroids) {
  Value byChannel = transpose(centroids), lengths = squaredLengths(centroids);
  Value out = b.empty({n.batch, n.heads, n.tokens}, i32);
  int64_t lanes = LoopBuilder::lanes(clusters);
  return b.forall(
      {n.batch, n.heads, n.tokens}, {out},
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        SmallVector<Value> dots(
            clusters / lanes,
            b.floatConstant(VectorType::get({lanes}, f32), 0.0));
        dots = b.loop(
            b.index(0), b.index(n.dim), dots,
            [&](Value channel, ArrayRef<Value> dots) {
              TokenIndex at{i[0], i[1], i[2], channel};
              Value x = b.splat(emitF32From(b, b.extract(value, at.in(layout))),
                                lanes);
              SmallVector<Value> c =
                  b.readF32(byChannel, {i[0], i[1], channel, b.index(0)},
                            clusters, lanes);
              for (auto [sum, centroid] : llvm::zip_equal(dots, c))
                centroid = b.fma(x, centroid, sum);
              return c;
            });
        SmallVector<Value> length =
            b.readF32(lengths, {i[0], i[1], b.index(0)}, clusters, lanes);
        Value best, nearest;
        for (int64_t cluster = 0; cluster < clusters; ++cluster) {
          int64_t vector = cluster / lanes, lane = cluster % lanes;
          Value dot = b.element(dots[vector], lane);
          Value distance = b.subF(b.element(length[vector], lane),
                                  b.mulF(b.floatConstant(f32, 2.0), dot));
          Value number = b.intConstant(i32, cluster);
          if (cluster == 0) {
            best = distance;
            nearest = number;
            continue;
          }
          Value closer = b.cmpF(arith::CmpFPredicate::OLT, distance, best);
          best = b.select(closer, distance, best);
          nearest = b.select(closer, number, nearest);
        }
        auto slice = b.row(out[0], i, 1);
        slice.tensor = b.insert(nearest, slice.tensor, {b.index(0)});
        return SmallVector<LoopBuilder::Slice>{slice};
      })[0];
}

Value ClusterBuilder::count(Value labels) {
  Value out = b.empty({n.batch, n.heads, chunks, b.index(clusters)}, i32);
  return b.forall({n.batch, n.heads, chunks, b.index(clusters)}, {out},
                  [&](ArrayRef<Value> i, ArrayRef<Value> out) {
                    auto [first, last] = tokensOfChunk(i[0], i[2]);
                    Value cluster = toI32(i[3]);
                    Value members = b.loop(
                        first, last, {b.intConstant(i32, 0)},
                        [&](Value token, ArrayRef<Value> members) {
                          Value label = b.extract(labels, {i[0], i[1], token});
                          Value isMember =
                              b.cmpI(arith::CmpIPredicate::eq, label, cluster);
                          return SmallVector<Value>{
                              b.add(members[0], b.extU(isMember, 32))};
                        })[0];
                    auto slice = b.row(out[0], i, 1);
                    slice.tensor =
                        b.insert(members, slice.tensor, {b.index(0)});
                    return SmallVector<LoopBuilder::Slice>{slice};
                  })[0];
}

Value ClusterBuilder::update(Value labels, Value centroids) {
  Value counts = count(labels);
  // Each iteration adds its chunk's tokens, in order, to their clusters' rows.
  Value partial = b.empty(
      {n.batch, n.heads, chunks, b.index(clusters), b.index(n.dim)}, f32);
  partial = b.forall(
      {n.batch, n.heads, chunks, b.index(n.dim / width)}, {partial},
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        Value channel = b.mul(i[3], b.index(width)), zero = b.index(0);
        OpFoldResult one = b.getIndexAttr(1);
        auto slice = b.slice(
            out[0], {i[0], i[1], i[2], zero, channel},
            {one, one, one, b.getIndexAttr(clusters), b.getIndexAttr(width)},
            /*keptDims=*/2);
        Value sums = b.loop(zero, b.index(clusters), {slice.tensor},
                            [&](Value cluster, ArrayRef<Value> sums) {
                              return SmallVector<Value>{b.writeAll(
                                  zeros(), sums[0], {cluster, zero})};
                            })[0];
        auto [first, last] = tokensOfChunk(i[0], i[2]);
        slice.tensor =
            b.loop(first, last, {sums}, [&](Value token, ArrayRef<Value> sums) {
              Value cluster = toIndex(b.extract(labels, {i[0], i[1], token}));
              TokenIndex at{i[0], i[1], token, channel};
              SmallVector<Value> x =
                  b.readF32(value, at.in(layout), width, lanes);
              SmallVector<Value> sum =
                  b.readF32(sums[0], {cluster, zero}, width, lanes);
              return SmallVector<Value>{
                  b.writeAll(add(sum, x), sums[0], {cluster, zero})};
            })[0];
        return SmallVector<LoopBuilder::Slice>{slice};
      })[0];

  return b.forall(
      {n.batch, n.heads, b.index(clusters), b.index(n.dim / width)},
      {centroids}, [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        Value channel = b.mul(i[3], b.index(width)), zero = b.index(0);
        SmallVector<Value> inits = zeros();
        inits.push_back(b.intConstant(i32, 0));
        SmallVector<Value> total = b.loop(
            zero, chunks, inits, [&](Value chunk, ArrayRef<Value> total) {
              SmallVector<Value> next =
                  add(total.drop_back(),
                      b.readF32(partial, {i[0], i[1], chunk, i[2], channel},
                                width, lanes));
              next.push_back(b.add(
                  total.back(), b.extract(counts, {i[0], i[1], chunk, i[2]})));
              return next;
            });
        Value members = total.pop_back_val();
        Value isEmpty =
            b.cmpI(arith::CmpIPredicate::eq, members, b.intConstant(i32, 0));
        Value divisor = b.splat(b.toF32(members), lanes);
        auto slice = b.row(out[0], {i[0], i[1], i[2], channel}, width);
        SmallVector<Value> old = b.readF32(slice.tensor, {zero}, width, lanes);
        for (auto [sum, centroid] : llvm::zip_equal(total, old))
          sum = b.select(isEmpty, centroid, b.divF(sum, divisor));
        slice.tensor = b.writeAll(total, slice.tensor, {zero});
        return SmallVector<LoopBuilder::Slice>{slice};
      })[0];
}

Value ClusterBuilder::firstPositions(Value counts) {
  Value out = b.empty({n.batch, n.heads, chunks, b.index(clusters)}, i32);
  return b.forall(
      {n.batch, n.heads}, {out}, [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        Value zero = b.index(0);
        OpFoldResult one = b.getIndexAttr(1);
        auto slice = b.slice(out[0], {i[0], i[1], zero, zero},
                             {one, one, chunks, b.getIndexAttr(clusters)},
                             /*keptDims=*/2);
        slice.tensor = b.loop(
            zero, b.index(clusters), {slice.tensor, b.intConstant(i32, 0)},
            [&](Value cluster, ArrayRef<Value> carried) {
              return b.loop(
                  zero, chunks, carried,
                  [&](Value chunk, ArrayRef<Value> carried) {
                    Value count =
                        b.extract(counts, {i[0], i[1], chunk, cluster});
                    return SmallVector<Value>{
                        b.insert(carried[1], carried[0], {chunk, cluster}),
                        b.add(carried[1], count)};
                  });
            })[0];
        return SmallVector<LoopBuilder::Slice>{slice};
      })[0];
}

Value ClusterBuilder::inPlace(Value out) {
  return b.forall({n.batch, n.heads, n.tokens}, {out},
                  [&](ArrayRef<Value> i, ArrayRef<Value> out) {
                    auto slice = b.row(out[0], i, 1);
                    slice.tensor =
                        b.insert(toI32(i[2]), slice.tensor, {b.index(0)});
                    return SmallVector<LoopBuilder::Slice>{slice};
                  })[0];
}

Value ClusterBuilder::sort(Value labels) {
  Value counts = count(labels), positions = firstPositions(counts);
  Value out = b.empty({n.batch, n.heads, n.tokens}, i32);
  if (lengths)
    out = inPlace(out);
  // The members that one chunk has of one cluster are neighbours in the order.
  return b.forall(
      {n.batch, n.heads, chunks, b.index(clusters)}, {out},
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        Value position = toIndex(b.extract(positions, i));
        Value members = toIndex(b.extract(counts, i));
        OpFoldResult one = b.getIndexAttr(1);
        auto slice = b.slice(out[0], {i[0], i[1], position},
                             {one, one, members}, /*keptDims=*/1);
        auto [first, last] = tokensOfChunk(i[0], i[2]);
        Value cluster = toI32(i[3]);
        slice.tensor = b.loop(
            first, last, {slice.tensor, b.index(0)},
            [&](Value token, ArrayRef<Value> carried) {
              Value label = b.extract(labels, {i[0], i[1], token});
              Value isMember = b.cmpI(arith::CmpIPredicate::eq, label, cluster);
              auto place = [&] {
                return SmallVector<Value>{
                    b.insert(toI32(token), carried[0], {carried[1]}),
                    b.add(carried[1], b.index(1))};
              };
              return b.branch(isMember, place,
                              [&] { return SmallVector<Value>(carried); });
            })[0];
        return SmallVector<LoopBuilder::Slice>{slice};
      })[0];
}

Lowered vcattn::lowerCluster(LoopBuilder &b, ClusterOp op) {
  if (failed(checkStaticDim(op, op.getValue(), "value")))
    return failure();
  ClusterBuilder cluster(b, op);
  Value centroids = cluster.initialCentroids();
  centroids =
      b.loop(b.index(0), b.index(op.getIterations()), {centroids},
             [&](Value, ArrayRef<Value> centroids) {
               Value labels = cluster.label(centroids[0]);
               return SmallVector<Value>{cluster.update(labels, centroids[0])};
             })[0];
  return SmallVector<Value>{cluster.sort(cluster.label(centroids)), centroids};
}
