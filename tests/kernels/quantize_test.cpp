// Rows, heads, keys and values to int8: the error stays within half a step, special rows, layouts, the same bytes
// everywhere. SPDX-License-Identifier: Apache-2.0
#include "kernels/support/matrix.h"
#include "kernels/support/require_at.h"
#include "quant/panel.h"

namespace heed::tests {
namespace {

uint32_t groups_of_4(uint32_t n) { return (n + 3) / 4 * 4; }

// quantize_rows of a matrix into memory of its own.
struct Quantized {
  Quantized(const Kernels& table, const Matrix& in, uint8_t flip, const float* input_scale = nullptr)
      : stride(groups_of_4(in.cols()) + 4), bytes(in.rows() * stride), scale(1, in.rows()), zero(in.rows()) {
    std::memset(bytes.get(), 0x55, in.rows() * stride);
    table.quantize_rows(
        {in.get(), in.stride(), in.rows(), in.cols(), input_scale, flip, bytes.get(), stride, scale.get(), zero.get(),
         false, nullptr});
  }
  uint32_t stride;
  Guarded<uint8_t> bytes;
  Matrix scale;
  Guarded<int32_t> zero;
};

// The value that a byte stands for.
double meaning(uint8_t byte, uint8_t flip, int32_t zero, float scale) {
  return (double(flip ? int32_t{byte} : int32_t{static_cast<int8_t>(byte)}) - zero) * scale;
}

}  // namespace

TEST_CASE("quantized rows are within half a step of their values, and 0 is exact (QNT-07)") {
  for (const uint8_t flip : {0x00, 0x80}) {
    for (const uint32_t cols : lengths()) {
      for (const float shift : {0.0f, 5.0f, -5.0f}) {
        Numbers numbers(cols);
        Matrix in(2, cols, 3);
        in.fill([&] { return numbers() + shift; });
        const Quantized q(*find_kernels(nullptr), in, flip);
        for (uint32_t r = 0; r < 2; ++r) {
          double lo = 0, hi = 0;
          for (uint32_t c = 0; c < cols; ++c)
            lo = std::min<double>(lo, in.at(r, c)), hi = std::max<double>(hi, in.at(r, c));
          INFO("cols " << cols << " shift " << shift << " flip " << int(flip));
          REQUIRE(q.scale.at(0, r) == Approx(std::max((hi - lo) / 255, std::ldexp(1.0, -40))).epsilon(1e-6));
          REQUIRE(q.zero[r] >= (flip ? 0 : -128));
          REQUIRE(q.zero[r] <= (flip ? 255 : 127));
          for (uint32_t c = 0; c < cols; ++c) {
            const double y = meaning(q.bytes[r * q.stride + c], flip, q.zero[r], q.scale.at(0, r));
            // The ends may lie half a step outside once the zero point is rounded.
            REQUIRE(std::fabs(y - in.at(r, c)) <= q.scale.at(0, r) * 1.001);
          }
          for (uint32_t c = cols; c < q.stride; ++c) {
            REQUIRE(q.bytes[r * q.stride + c] == (c < groups_of_4(cols) ? flip : 0x55));
          }
        }
      }
    }
  }
}

TEST_CASE("values between the ends of a row are rounded to the nearest step") {
  Matrix in(1, 256);
  for (uint32_t c = 0; c < 256; ++c) in.at(0, c) = (static_cast<float>(c) + (c % 2 ? 0.4f : -0.4f)) * 0.5f;
  in.at(0, 0) = 0;
  in.at(0, 255) = 127.5f;
  for (const Kernels* table : runnable_tables()) {
    INFO(table->isa);
    const Quantized q(*table, in, 0x80);
    CHECK(q.scale.at(0, 0) == 0.5f);
    CHECK(q.zero[0] == 0);
    for (uint32_t c = 0; c < 256; ++c) REQUIRE(q.bytes[c] == c);
  }
}

TEST_CASE("a row of zeros keeps a finite scale and gives exact zeros (QNT-01)") {
  for (const Kernels* table : runnable_tables()) {
    for (const uint8_t flip : {0x00, 0x80}) {
      INFO(table->isa << " flip " << int(flip));
      Numbers numbers(1);
      Matrix in(3, 37);
      in.fill([&] { return numbers(); });
      for (uint32_t c = 0; c < 37; ++c) in.at(1, c) = c % 2 ? 0.0f : -0.0f;
      const Quantized q(*table, in, flip);
      CHECK(q.scale.at(0, 1) == 0x1p-40f);
      for (uint32_t c = 0; c < 37; ++c) CHECK(meaning(q.bytes[q.stride + c], flip, q.zero[1], q.scale.at(0, 1)) == 0);
      CHECK(q.scale.at(0, 0) > 0.001f);
      CHECK(q.scale.at(0, 2) > 0.001f);

      Guarded<uint8_t> heads(3 * 40);
      Matrix scale(1, 3);
      table->quantize_heads({in.get(), 37, 3, 1, 37, flip, heads.get(), scale.get()});
      CHECK(scale.at(0, 1) == 0x1p-40f);
      for (uint32_t c = 0; c < 40; ++c) CHECK(heads[40 + c] == flip);
    }
  }
}

TEST_CASE("a row with a NaN or an infinity anywhere has scale NaN and zero bytes; its neighbours are untouched by it") {
  for (const Kernels* table : runnable_tables()) {
    for (const float bad : {kNan, -kNan, kInf, -kInf, float_of(0x7f800001), float_of(0xffffffff)}) {
      for (const uint32_t place : {0u, 16u, 36u}) {
        INFO(table->isa << " " << bad << " at " << place);
        Matrix in(2, 37);
        in.fill([] { return 2.0f; });
        in.at(0, place) = bad;
        const Quantized q(*table, in, 0x80);
        REQUIRE(bits_of(q.scale.at(0, 0)) == 0x7fc00000);
        for (uint32_t c = 0; c < 40; ++c) REQUIRE(q.bytes[c] == 0x80);
        REQUIRE(meaning(q.bytes[q.stride], 0x80, q.zero[1], q.scale.at(0, 1)) == Approx(2));

        Guarded<uint8_t> heads(2 * 40);
        Matrix scale(1, 2);
        table->quantize_heads({in.get(), 37, 2, 1, 37, 0, heads.get(), scale.get()});
        REQUIRE(bits_of(scale.at(0, 0)) == 0x7fc00000);
        for (uint32_t c = 0; c < 40; ++c) REQUIRE(heads[c] == 0);
        REQUIRE(heads[40] == 127);
      }
    }
  }
}

TEST_CASE("woven rows are the same bytes, 8 of each of four rows in turn") {
  for (const Kernels* table : runnable_tables()) {
    if (!table->weaves_rows) continue;
    INFO(table->isa);
    for (const uint32_t cols : {8u, 16u, 24u, 32u, 40u, 48u, 56u, 64u, 72u, 136u, 384u}) {
      for (const bool scaled : {false, true}) {
        Numbers numbers(cols);
        Matrix in(8, cols), input_scale(1, cols);
        in.fill([&] { return numbers(); });
        input_scale.fill([&] { return std::fabs(numbers()) + 0.5f; });
        in.at(2, cols - 1) = kNan;
        const float* scales = scaled ? input_scale.get() : nullptr;
        const Quantized apart(*table, in, table->byte_flip, scales);
        Guarded<uint8_t> bytes(8 * cols);
        Matrix scale(1, 8);
        Guarded<int32_t> zero(8);
        table->quantize_rows({in.get(), in.stride(), 8, cols, scales, table->byte_flip, bytes.get(), cols, scale.get(),
                              zero.get(), true, nullptr});
        for (uint32_t r = 0; r < 8; ++r) {
          REQUIRE(bits_of(scale.at(0, r)) == bits_of(apart.scale.at(0, r)));
          REQUIRE(zero[r] == apart.zero[r]);
          for (uint32_t c = 0; c < cols; ++c) {
            REQUIRE_AT(bytes[r / 4 * 4 * cols + c / 8 * 32 + r % 4 * 8 + c % 8] == apart.bytes[r * apart.stride + c],
                       "cols " << cols << " row " << r << " column " << c);
          }
        }
        // Over their own input, as attention does it.
        Matrix own(8, cols);
        std::memcpy(own.get(), in.get(), 8 * cols * sizeof(float));
        table->quantize_rows({own.get(), own.stride(), 8, cols, scales, table->byte_flip,
                              reinterpret_cast<uint8_t*>(own.get()), own.stride() * 4, scale.get(), zero.get(), true, nullptr});
        for (uint32_t four = 0; four < 2; ++four) {
          const uint8_t* over = reinterpret_cast<const uint8_t*>(own.get()) + four * 4 * own.stride() * 4;
          REQUIRE(std::memcmp(over, bytes.get() + four * 4 * cols, 4 * cols) == 0);
        }
      }
    }
  }
}

TEST_CASE("quantized rows have the same bytes on every instruction set, also over their own input") {
  for (const uint8_t flip : {0x00, 0x80}) {
    for (const uint32_t cols : lengths()) {
      for (const bool scaled : {false, true}) {
        INFO("cols " << cols << " scaled " << scaled);
        const auto inputs = [&](Matrix& in, Matrix& input_scale) {
          Numbers numbers(cols);
          in.fill([&] { return numbers.finite(); });
          for (uint32_t c = 0; c < cols; ++c) in.at(1, c) = numbers();  // and one of ordinary numbers
          input_scale.fill([&] { return 1 + 0.1f * numbers(); });
        };
        same_bits([&](const Kernels& table) {
          Matrix in(3, cols, 3), input_scale(1, cols);
          inputs(in, input_scale);
          const Quantized q(table, in, flip, scaled ? input_scale.get() : nullptr);
          return Written().add(q.bytes.get(), 3 * q.stride).add(q.scale).add(q.zero.get(), 3);
        });
        if (cols % 4) continue;
        same_bits([&](const Kernels& table) {
          Matrix in(3, cols, 4), input_scale(1, cols), scale(1, 3);
          inputs(in, input_scale);
          const Quantized apart(table, in, flip, scaled ? input_scale.get() : nullptr);
          int32_t zero[3];
          auto* bytes = reinterpret_cast<uint8_t*>(in.get());
          table.quantize_rows({in.get(), in.stride(), 3, cols, scaled ? input_scale.get() : nullptr, flip, bytes, cols,
                               scale.get(), zero});
          Written written;
          for (uint32_t r = 0; r < 3; ++r) {
            REQUIRE(std::memcmp(bytes + r * cols, apart.bytes.get() + r * apart.stride, cols) == 0);
            written.add(bytes + r * cols, cols);
          }
          return written;
        });
      }
    }
  }
}

TEST_CASE("heads are quantized each with its own scale, within half a step") {
  for (const Kernels* table : runnable_tables()) {
    for (uint32_t head_dim = 1; head_dim <= 70; ++head_dim) {
      INFO(table->isa << " head_dim " << head_dim);
      Numbers numbers(head_dim);
      Matrix in(3, 2 * head_dim, 5);
      in.fill([&] { return numbers(); });
      for (uint32_t c = 0; c < head_dim; ++c) in.at(1, c) *= 1000;
      const uint32_t padded = groups_of_4(head_dim);
      Guarded<uint8_t> out(3 * 2 * padded);
      Matrix scale(3, 2);
      table->quantize_heads({in.get(), in.stride(), 3, 2, head_dim, 0x80, out.get(), scale.get()});
      for (uint32_t r = 0; r < 3; ++r) {
        for (uint32_t h = 0; h < 2; ++h) {
          double top = 0;
          for (uint32_t c = 0; c < head_dim; ++c) top = std::max<double>(top, std::fabs(in.at(r, h * head_dim + c)));
          REQUIRE(scale.at(r, h) == Approx(top / 127).epsilon(1e-6));
          const uint8_t* bytes = out.get() + (r * 2 + h) * padded;
          for (uint32_t c = 0; c < padded; ++c) {
            const int q = bytes[c] - 128;
            if (c >= head_dim)
              REQUIRE(q == 0);
            else
              REQUIRE(std::fabs(q * double(scale.at(r, h)) - in.at(r, h * head_dim + c)) <= scale.at(r, h) * 0.5001);
          }
        }
      }
    }
  }
}

TEST_CASE("keys lie in panels with the bytes of quantize_heads and their sums, wherever the sequence is cut") {
  const uint32_t heads = 2;
  for (const Kernels* table : runnable_tables()) {
    for (const uint32_t head_dim : {1u, 3u, 4u, 5u, 15u, 16u, 17u, 32u, 33u, 64u, 70u}) {
      const uint32_t keys = 37, slots = static_cast<uint32_t>(padded_keys(keys)), padded = groups_of_4(head_dim);
      const uint64_t head_bytes = matrix_i8_bytes(keys, head_dim);
      Numbers numbers(head_dim);
      Matrix in(keys, heads * head_dim, 1);
      in.fill([&] { return numbers.any(); });
      Guarded<uint8_t> expected(keys * heads * padded);
      Matrix expected_scale(keys, heads);
      table->quantize_heads({in.get(), in.stride(), keys, heads, head_dim, 0, expected.get(), expected_scale.get()});
      for (const uint32_t cut : {0u, 1u, 16u, 21u}) {
        INFO(table->isa << " head_dim " << head_dim << " cut at " << cut);
        Guarded<int8_t> out(heads * head_bytes);
        std::memset(out.get(), 0x55, heads * head_bytes);
        Matrix scale(heads, slots);
        Guarded<int32_t> sum(heads * slots);
        table->pack_keys_i8(
            {in.get(), in.stride(), cut, heads, head_dim, 0, out.get(), head_bytes, scale.get(), sum.get(), slots});
        table->pack_keys_i8({in.row(cut), in.stride(), keys - cut, heads, head_dim, cut, out.get(), head_bytes,
                             scale.get(), sum.get(), slots});
        for (uint32_t h = 0; h < heads; ++h) {
          for (uint32_t p = 0; p < slots; ++p) {
            int32_t total = 0;
            for (uint32_t c = 0; c < padded; ++c) {
              const int8_t byte = out[h * head_bytes + panel_i8_index(p, c, head_dim)];
              total += byte;
              REQUIRE(byte == (p < keys ? static_cast<int8_t>(expected[(p * heads + h) * padded + c]) : 0x55));
            }
            if (p >= keys) continue;
            REQUIRE(sum[h * slots + p] == total);
            REQUIRE(bits_of(scale.at(h, p)) == bits_of(expected_scale.at(p, h)));
          }
        }
      }
    }
  }
}

TEST_CASE("values lie in tiles of 64 keys with the bytes of quantize_heads, wherever the sequence is cut") {
  const uint32_t heads = 2;
  for (const Kernels* table : runnable_tables()) {
    for (const uint32_t keys : {1u, 5u, 37u, 64u, 70u, 130u}) {
      for (const uint32_t value_dim : {1u, 8u, 15u, 16u, 17u, 32u, 40u}) {
        const uint32_t slots = static_cast<uint32_t>(padded_keys(keys)), padded = groups_of_4(value_dim);
        const uint32_t features = static_cast<uint32_t>(round_up(value_dim, 16));
        const uint64_t head_bytes = uint64_t{slots} * features;
        Numbers numbers(value_dim);
        Matrix in(keys, heads * value_dim, 1);
        in.fill([&] { return numbers(); });
        if (keys > 3) in.at(3, 0) = kInf;
        Guarded<uint8_t> expected(keys * heads * padded);
        Matrix scale(keys, heads);
        table->quantize_heads({in.get(), in.stride(), keys, heads, value_dim, 0, expected.get(), scale.get()});
        for (const uint32_t cut : {0u, 1u, 4u, 35u, 66u}) {
          if (cut > keys) continue;
          INFO(table->isa << " keys " << keys << " value_dim " << value_dim << " cut at " << cut);
          Guarded<int8_t> out(heads * head_bytes);
          std::memset(out.get(), 0x55, heads * head_bytes);
          Matrix log2(heads, slots), inverse(heads, slots);
          table->pack_values_i8({in.get(), in.stride(), cut, heads, value_dim, 0, keys, out.get(), head_bytes,
                                 log2.get(), inverse.get(), slots});
          table->pack_values_i8({in.row(cut), in.stride(), keys - cut, heads, value_dim, cut, keys, out.get(),
                                 head_bytes, log2.get(), inverse.get(), slots});
          for (uint32_t h = 0; h < heads; ++h) {
            for (uint32_t p = 0; p < slots; ++p) {
              const uint32_t tile = p / 64 * 64;
              for (uint32_t f = 0; f < features; ++f) {
                const int8_t byte =
                    out[h * head_bytes + tile * features + panel_i8_index(f, p - tile, tile_keys(keys, tile))];
                const int8_t there =
                    f < value_dim && p < keys ? static_cast<int8_t>(expected[(p * heads + h) * padded + f]) : 0;
                REQUIRE_AT(byte == (p < keys ? there : 0x55), "key " << p << " feature " << f);
              }
              if (p >= keys) {
                REQUIRE(bits_of(log2.at(h, p)) == kPoisonBits);
              } else if (std::isnan(scale.at(p, h))) {
                REQUIRE(bits_of(log2.at(h, p)) == 0x7fc00000);
                REQUIRE(bits_of(inverse.at(h, p)) == 0x7fc00000);
              } else {
                REQUIRE(log2.at(h, p) == Approx(std::log2(scale.at(p, h))).margin(1e-6));
                REQUIRE(inverse.at(h, p) == 1 / scale.at(p, h));
              }
            }
          }
        }
      }
    }
  }
}

TEST_CASE("packed keys and values have the same bytes on every instruction set") {
  for (const uint32_t dim : {1u, 7u, 16u, 31u, 32u, 64u, 80u}) {
    for (const uint32_t keys : {1u, 6u, 64u, 75u}) {
      INFO("dim " << dim << " keys " << keys);
      same_bits([&](const Kernels& table) {
        const uint32_t slots = static_cast<uint32_t>(padded_keys(keys));
        Numbers numbers(keys, 1e3f);
        Matrix in(keys, dim);
        in.fill([&] { return numbers.any(); });
        for (uint32_t c = 0; c < dim; ++c) in.at(0, c) = numbers();
        std::vector<int8_t> k(matrix_i8_bytes(keys, dim)), v(slots * round_up(dim, 16));
        std::vector<float> scale(slots), log2(slots), inverse(slots);
        std::vector<int32_t> sum(slots);
        table.pack_keys_i8({in.get(), dim, keys, 1, dim, 0, k.data(), 0, scale.data(), sum.data(), slots});
        table.pack_values_i8({in.get(), dim, keys, 1, dim, 0, keys, v.data(), 0, log2.data(), inverse.data(), slots});
        Written written;
        written.add(k.data(), k.size()).add(v.data(), v.size()).add(scale.data(), slots).add(log2.data(), slots);
        return written.add(inverse.data(), slots).add(sum.data(), slots);
      });
    }
  }
}

TEST_CASE("a value row too large for its inverse to be stored gives a NaN, not a weight of 0") {
  Matrix in(1, 16);
  in.fill([] { return 1e30f; });
  for (const Kernels* table : runnable_tables()) {
    INFO(table->isa);
    int8_t out[16 * 16];
    float log2[16], inverse[16];
    table->pack_values_i8({in.get(), 16, 1, 1, 16, 0, 1, out, 0, log2, inverse, 16});
    CHECK(bits_of(log2[0]) == 0x7fc00000);
  }
}

}  // namespace heed::tests
