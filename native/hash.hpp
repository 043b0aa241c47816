// A fast 64-bit hash for ROM identity and save-state checksums (not cryptographic).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nes {

inline uint64_t hash_bytes(const uint8_t *data, size_t size, uint64_t seed) {
    // Two multiply-xorshift lanes over 16-byte blocks; every input bit reaches the result.
    constexpr uint64_t kA = 0x9E3779B97F4A7C15ull;
    constexpr uint64_t kB = 0xC2B2AE3D27D4EB4Full;
    uint64_t a = seed ^ kA;
    uint64_t b = (seed + size) * kB;
    auto mix = [](uint64_t h, uint64_t word, uint64_t k) {
        h = (h ^ word) * k;
        return h ^ (h >> 29);
    };
    size_t i = 0;
    for (; i + 16 <= size; i += 16) {
        uint64_t words[2];
        std::memcpy(words, data + i, 16);
        a = mix(a, words[0], kA);
        b = mix(b, words[1], kB);
    }
    for (; i < size; ++i) a = mix(a, data[i], kB);
    uint64_t h = mix(a, b, kA);
    h = mix(h, h >> 32, kB);
    return h ^ (h >> 31);
}

}  // namespace nes
