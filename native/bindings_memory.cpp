// Python's face of memory_views.hpp: shapes and addresses are checked here, once, before the loops run.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include "memory_views.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using MemoryArray = nb::ndarray<const uint8_t, nb::ndim<2>, nb::device::cpu>;
using IndexArray = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using IndexTable = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using FloatTables = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ByteTable = nb::ndarray<uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ShortTable = nb::ndarray<int16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstShortTable = nb::ndarray<const int16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using FlagTable = nb::ndarray<const bool, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using IntTable = nb::ndarray<int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using FloatRows = nb::ndarray<float, nb::ndim<2>, nb::device::cpu>;

nes::Memories memories_of(const MemoryArray &memory) {
    if (memory.stride(1) != 1) throw nb::value_error("the bytes of a memory must lie side by side");
    return {memory.data(), memory.shape(0), memory.shape(1), memory.stride(0)};
}

void check_addresses(const nes::Memories &memories, const IndexArray &addresses) {
    for (size_t k = 0; k < addresses.shape(0); ++k) {
        const int64_t address = addresses.data()[k];
        if (address < 0 || address >= static_cast<int64_t>(memories.size)) {
            throw nb::value_error("an address is outside the memory");
        }
    }
}

template <typename Table>
void check_shape(const Table &table, size_t rows, size_t columns, const char *message) {
    if (table.shape(0) != rows || table.shape(1) != columns) throw nb::value_error(message);
}

void gather(const MemoryArray &memory, const IndexArray &addresses, const ByteTable &out) {
    const nes::Memories memories = memories_of(memory);
    check_shape(out, addresses.shape(0), memories.lanes, "out must have the shape (addresses, lanes)");
    check_addresses(memories, addresses);
    nes::gather(memories, addresses.data(), addresses.shape(0), out.data());
}

void gather_words(const MemoryArray &memory, const IndexArray &low, const IndexArray &high, const ShortTable &out) {
    const nes::Memories memories = memories_of(memory);
    const size_t count = low.shape(0);
    if (high.shape(0) != count) throw nb::value_error("low and high must have the same length");
    check_shape(out, count, memories.lanes, "out must have the shape (addresses, lanes)");
    check_addresses(memories, low);
    check_addresses(memories, high);
    nes::gather_words(memories, low.data(), high.data(), count, out.data());
}

void gather_decimals(const MemoryArray &memory, const IndexArray &starts, const IndexArray &digits,
                     const IntTable &out) {
    const nes::Memories memories = memories_of(memory);
    const size_t count = starts.shape(0);
    if (digits.shape(0) != count) throw nb::value_error("starts and digits must have the same length");
    check_shape(out, count, memories.lanes, "out must have the shape (addresses, lanes)");
    for (size_t k = 0; k < count; ++k) {
        const int64_t start = starts.data()[k], length = digits.data()[k];
        if (length < 1 || length > 9) throw nb::value_error("digits must be 1 to 9");
        if (start < 0 || start + length > static_cast<int64_t>(memories.size)) {
            throw nb::value_error("an address is outside the memory");
        }
    }
    nes::gather_decimals(memories, starts.data(), digits.data(), count, out.data());
}

void look_up(const MemoryArray &memory, const IndexArray &addresses, const FloatTables &tables, const FloatRows &out) {
    const nes::Memories memories = memories_of(memory);
    const size_t count = addresses.shape(0);
    check_shape(tables, count, 256, "tables must have the shape (addresses, 256)");
    if (out.shape(0) != memories.lanes || out.shape(1) < count || out.stride(1) != 1) {
        throw nb::value_error("out must have the shape (lanes, addresses)");
    }
    check_addresses(memories, addresses);
    nes::look_up(memories, addresses.data(), count, tables.data(), out.data(), out.stride(0));
}

void mark(const FloatRows &out, const FlagTable &there, const ConstShortTable &plane, const ConstShortTable &row,
          const ConstShortTable &column, std::tuple<int, int, int> shape) {
    const auto [planes, rows, columns] = shape;
    const size_t things = there.shape(0), lanes = there.shape(1);
    for (const ConstShortTable *table : {&plane, &row, &column}) {
        check_shape(*table, things, lanes, "there, plane, row and column must have the shape (things, lanes)");
    }
    if (planes < 0 || rows < 0 || columns < 0 || planes > 4096 || rows > 4096 || columns > 4096 ||
        out.shape(0) != lanes || out.stride(1) != 1 ||
        out.shape(1) < static_cast<size_t>(planes) * static_cast<size_t>(rows) * static_cast<size_t>(columns)) {
        throw nb::value_error("out must have the shape (lanes, planes * rows * columns)");
    }
    nes::mark({things, lanes, there.data(), plane.data(), row.data(), column.data(), planes, rows, columns, out.data(),
               out.stride(0)});
}

void look_up_window(const MemoryArray &memory, const IndexTable &starts, int rows, int row_stride,
                    const nb::bytes &outside, const FloatTables &tables, const FloatRows &out) {
    const nes::Memories memories = memories_of(memory);
    const size_t columns = starts.shape(1), planes = tables.shape(0);
    if (rows < 1 || rows > 4096 || row_stride < 0 || row_stride > 4096) {
        throw nb::value_error("rows must be 1 to 4096, row_stride 0 to 4096");
    }
    if (starts.shape(0) != memories.lanes || tables.shape(1) != 256 || out.shape(0) != memories.lanes ||
        out.stride(1) != 1 || out.shape(1) < planes * columns * static_cast<size_t>(rows)) {
        throw nb::value_error("starts is (lanes, columns), tables (planes, 256), out (lanes, planes * rows * columns)");
    }
    const int64_t last = static_cast<int64_t>(memories.size) - static_cast<int64_t>(rows - 1) * row_stride;
    for (size_t i = 0; i < memories.lanes * columns; ++i) {
        const int64_t start = starts.data()[i];
        if (start >= last || start < -static_cast<int64_t>(outside.size())) {
            throw nb::value_error("a column starts outside the memory");
        }
    }
    nes::look_up_window(
        memories, {static_cast<size_t>(rows), columns, static_cast<size_t>(row_stride), starts.data(),
                   static_cast<const uint8_t *>(outside.data()), tables.data(), planes, out.data(), out.stride(0)});
}

}  // namespace

void bind_memory_views(nb::module_ &m) {
    m.def("gather", &gather, "memory"_a, "addresses"_a, "out"_a,
          "out[k, lane] = memory[lane, addresses[k]]: uint8[lanes, size], int64[k], uint8[k, lanes].");
    m.def("gather_words", &gather_words, "memory"_a, "low"_a, "high"_a, "out"_a,
          "out[k, lane] = memory[lane, high[k]] << 8 | memory[lane, low[k]], as int16[k, lanes].");
    m.def("gather_decimals", &gather_decimals, "memory"_a, "starts"_a, "digits"_a, "out"_a,
          "Decimal numbers of one digit a byte, highest first, digits[k] of them from starts[k] on: int32[k, lanes].");
    m.def("look_up", &look_up, "memory"_a, "addresses"_a, "tables"_a, "out"_a,
          "out[lane, k] = tables[k, memory[lane, addresses[k]]]: float32[k, 256], float32[lanes, k].");
    m.def("mark", &mark, "out"_a, "there"_a, "plane"_a, "row"_a, "column"_a, "shape"_a,
          "out[lane].reshape(shape)[plane, row, column] = 1 for every thing of every lane that is there and inside; "
          "bool and int16 arrays of (things, lanes).");
    m.def("look_up_window", &look_up_window, "memory"_a, "starts"_a, "rows"_a, "row_stride"_a, "outside"_a, "tables"_a,
          "out"_a,
          "A window of each lane's memory, each byte turned into one number per table. starts[lane, c] is the address "
          "of column c (negative: -1-k stands for bytes outside[k]); out[lane] gets planes of rows x columns.");
}
