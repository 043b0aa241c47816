#include "pixels.hpp"

#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define NES_X86 1
#if !defined(__clang__) && defined(__linux__)
#define NES_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define NES_CLONES
#endif
#else
#define NES_X86 0
#define NES_CLONES
#endif

namespace nes {
namespace {

void map_plain(const uint8_t *in, uint8_t *out, size_t count, const uint8_t *table) {
    for (size_t i = 0; i < count; ++i) out[i] = table[in[i]];
}

#if NES_X86
// PSHUFB looks 16 bytes up in a 16-entry table at once; larger tables are picked together by the index's upper bits.
__attribute__((target("sse4.1"))) void map32_sse(const uint8_t *in, uint8_t *out, size_t count, const uint8_t *table) {
    const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i *>(table));
    const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i *>(table + 16));
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m128i index = _mm_loadu_si128(reinterpret_cast<const __m128i *>(in + i));
        const __m128i upper = _mm_slli_epi16(index, 3);  // bit 4 to bit 7, which the blend looks at
        const __m128i nibble = _mm_and_si128(index, _mm_set1_epi8(15));
        const __m128i value = _mm_blendv_epi8(_mm_shuffle_epi8(low, nibble), _mm_shuffle_epi8(high, nibble), upper);
        _mm_storeu_si128(reinterpret_cast<__m128i *>(out + i), value);
    }
    map_plain(in + i, out + i, count - i, table);
}

__attribute__((target("sse4.1"))) void map64_sse(const uint8_t *in, uint8_t *out, size_t count, const uint8_t *table) {
    __m128i part[4];
    for (int k = 0; k < 4; ++k) part[k] = _mm_loadu_si128(reinterpret_cast<const __m128i *>(table + 16 * k));
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m128i index = _mm_loadu_si128(reinterpret_cast<const __m128i *>(in + i));
        const __m128i bit4 = _mm_slli_epi16(index, 3), bit5 = _mm_slli_epi16(index, 2);
        const __m128i nibble = _mm_and_si128(index, _mm_set1_epi8(15));
        const __m128i a = _mm_blendv_epi8(_mm_shuffle_epi8(part[0], nibble), _mm_shuffle_epi8(part[1], nibble), bit4);
        const __m128i b = _mm_blendv_epi8(_mm_shuffle_epi8(part[2], nibble), _mm_shuffle_epi8(part[3], nibble), bit4);
        _mm_storeu_si128(reinterpret_cast<__m128i *>(out + i), _mm_blendv_epi8(a, b, bit5));
    }
    map_plain(in + i, out + i, count - i, table);
}

const bool kHasSse = __builtin_cpu_supports("sse4.1");
#endif

}  // namespace

void map32(const uint8_t *in, uint8_t *out, size_t count, const uint8_t *table) {
#if NES_X86
    if (kHasSse) return map32_sse(in, out, count, table);
#endif
    map_plain(in, out, count, table);
}

void map64(const uint8_t *in, uint8_t *out, size_t count, const uint8_t *table) {
#if NES_X86
    if (kHasSse) return map64_sse(in, out, count, table);
#endif
    map_plain(in, out, count, table);
}

void map_rgb(const uint8_t *in, uint8_t *out, size_t count, const uint32_t *table) {
    if (count == 0) return;
    // Whole words are stored; the next pixel overwrites the fourth byte.
    for (size_t i = 0; i + 1 < count; ++i, out += 3) std::memcpy(out, &table[in[i]], 4);
    std::memcpy(out, &table[in[count - 1]], 3);
}

NES_CLONES void take_brighter(uint8_t *__restrict a, const uint8_t *__restrict b, size_t count) {
    for (size_t i = 0; i < count; ++i) a[i] = a[i] > b[i] ? a[i] : b[i];
}

NES_CLONES void weigh(uint16_t *__restrict sums, const uint8_t *__restrict in, size_t count, uint16_t weight) {
    for (size_t i = 0; i < count; ++i) sums[i] = static_cast<uint16_t>(in[i] * weight);
}

NES_CLONES void add_weighed(uint16_t *__restrict sums, const uint8_t *__restrict in, size_t count, uint16_t weight) {
    for (size_t i = 0; i < count; ++i) sums[i] = static_cast<uint16_t>(sums[i] + in[i] * weight);
}

void reduce_row(const uint16_t *sums, const int *first, const int16_t *weights, size_t count, uint8_t *out) {
#if NES_X86
    // Halved, the sums fit signed 16 bits, and PMADDWD does eight products at once.
    for (size_t x = 0; x < count; ++x) {
        const __m128i values = _mm_srli_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i *>(sums + first[x])), 1);
        const __m128i factors = _mm_loadu_si128(reinterpret_cast<const __m128i *>(weights + 8 * x));
        __m128i total = _mm_madd_epi16(values, factors);
        total = _mm_add_epi32(total, _mm_shuffle_epi32(total, 0x4E));
        total = _mm_add_epi32(total, _mm_shuffle_epi32(total, 0xB1));
        out[x] = static_cast<uint8_t>((_mm_cvtsi128_si32(total) + (1 << 14)) >> 15);
    }
#else
    for (size_t x = 0; x < count; ++x) {
        int total = 1 << 14;
        for (int k = 0; k < 8; ++k) total += (sums[first[x] + k] >> 1) * weights[8 * x + k];
        out[x] = static_cast<uint8_t>(total >> 15);
    }
#endif
}

NES_CLONES void merge_sprites(uint8_t *__restrict background, const uint8_t *__restrict sprites, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const uint8_t sprite = sprites[i], under = background[i];
        const uint8_t front = (sprite & 0x80) ? (under == 0 ? sprite & 0x1F : under) : (sprite & 0x1F);
        background[i] = sprite ? front : under;
    }
}

}  // namespace nes
