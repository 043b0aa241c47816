// The inner loops over pixels, each with a variant for newer CPUs picked at run time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nes {

// out[i] = table[in[i]]: the 32 entries of palette RAM, or the 64 colours.
void map32(const uint8_t *in, uint8_t *out, size_t count, const uint8_t *table);
void map64(const uint8_t *in, uint8_t *out, size_t count, const uint8_t *table);

// Three bytes of RGB for each pixel; the table holds them in the low bytes of each word.
void map_rgb(const uint8_t *in, uint8_t *out, size_t count, const uint32_t *table);

// a[i] = max(a[i], b[i])
void take_brighter(uint8_t *a, const uint8_t *b, size_t count);

// sums[i] = in[i] * weight, and sums[i] += in[i] * weight
void weigh(uint16_t *sums, const uint8_t *in, size_t count, uint16_t weight);
void add_weighed(uint16_t *sums, const uint8_t *in, size_t count, uint16_t weight);

// Grey pixels from a row of 8.8 sums: out[x] = sum over k < 8 of sums[first[x] + k] * weights[8 x + k] / 256.
// The row has 8 more values after its last; the 8 weights of a pixel total at most 256.
void reduce_row(const uint16_t *sums, const int *first, const int16_t *weights, size_t count, uint8_t *out);

// Sprites over background, both as palette entries: 0 is transparent, bit 7 of a sprite pixel puts it behind.
void merge_sprites(uint8_t *background, const uint8_t *sprites, size_t count);

}  // namespace nes
