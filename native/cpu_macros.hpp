// The building blocks of the interpreter in cpu.cpp: its registers, the bus, operations and addressing modes.
//
// Macros, not functions, because they work on the locals of one big function (Console::run), where the 6502's registers
// stay in the host's, and because each handler label is pasted together from an operation and a mode.
#pragma once

namespace nes {

constexpr unsigned kC = 0x01, kZ = 0x02, kI = 0x04, kD = 0x08, kB = 0x10, kU = 0x20, kV = 0x40, kN = 0x80;

}  // namespace nes

// Registers live in locals for speed; `ip` walks decoded code, and pc = page_pc + (ip - page_ip).
#define PC() (static_cast<unsigned>(page_pc + (ip - page_ip)) & 0xFFFF)
#define ENTER(address)                               \
    do {                                             \
        const unsigned target_ = (address) & 0xFFFF; \
        if (target_ & 0x8000) {                      \
            page_ip = ops_[target_ >> 13 & 3];       \
            page_pc = target_ & 0xE000;              \
            ip = page_ip + (target_ & 0x1FFF);       \
        } else {                                     \
            page_ip = slow_code_;                    \
            page_pc = target_;                       \
            ip = page_ip;                            \
        }                                            \
    } while (0)
#define DISPATCH()             \
    do {                       \
        op = *ip;              \
        goto *handlers[op.fn]; \
    } while (0)
#define NEXT()                                            \
    do {                                                  \
        if (__builtin_expect(cyc >= stop, 0)) goto event; \
        DISPATCH();                                       \
    } while (0)

#define PRG(a) prg_[(a) >> 13 & 3][(a) & 0x1FFF]
#define IS_IO(a) ((a) - 0x2000u < 0x6000u)
#define STACK(offset) ram[0x100 | static_cast<uint8_t>(S + (offset))]
#define PUSH(value) (STACK(0) = static_cast<uint8_t>(value), S = (S - 1) & 0xFF)
#define POP() (S = (S + 1) & 0xFF, ram[0x100 | S])
#define SET_NZ(value) (NZ = (value))
#define FLAG_N (NZ & 0x8080)
#define FLAG_Z ((NZ & 0xFF) == 0)
#define STATUS() (C | (FLAG_Z ? kZ : 0) | (s.p & (kI | kD)) | (V ? kV : 0) | (FLAG_N ? kN : 0) | kU)
#define SET_STATUS(value)                                                  \
    do {                                                                   \
        const unsigned p_ = (value);                                       \
        C = p_ & kC;                                                       \
        V = p_ >> 6 & 1;                                                   \
        NZ = (p_ & kZ ? 0 : 1) | (p_ & kN) << 8;                           \
        s.p = static_cast<uint8_t>((s.p & ~(kI | kD)) | (p_ & (kI | kD))); \
    } while (0)

// A bus access outside RAM and PRG ROM, `back` cycles before the instruction's last; `bus` is what was fetched before.
#define SLOW_READ(address, back)                                                                                \
    (s.cycle = cyc, s.open_bus = static_cast<uint8_t>(bus),                                                     \
     slow_value = bus_read(static_cast<uint16_t>(address), cyc - 1 - (back)), cyc = s.cycle, stop = attention_, \
     bus = slow_value, slow_value)
#define READ_BACK(address, back)       \
    ({                                 \
        const unsigned a_ = (address); \
        unsigned v_;                   \
        if (a_ < 0x2000) {             \
            v_ = ram[a_ & 0x7FF];      \
        } else if (a_ >= 0x8000) {     \
            v_ = PRG(a_);              \
        } else {                       \
            v_ = SLOW_READ(a_, back);  \
        }                              \
        v_;                            \
    })
#define READ(address) READ_BACK(address, 0)
#define WRITE_BACK(address, value, back)                                                         \
    do {                                                                                         \
        const unsigned a_ = (address);                                                           \
        if (a_ < 0x2000) {                                                                       \
            ram[a_ & 0x7FF] = static_cast<uint8_t>(value);                                       \
        } else {                                                                                 \
            s.cycle = cyc;                                                                       \
            bus_write(static_cast<uint16_t>(a_), static_cast<uint8_t>(value), cyc - 1 - (back)); \
            cyc = s.cycle;                                                                       \
            stop = attention_;                                                                   \
            if (remapped_) {                                                                     \
                remapped_ = false;                                                               \
                const unsigned pc_ = PC();                                                       \
                if (pc_ & 0x8000) ENTER(pc_);                                                    \
            }                                                                                    \
        }                                                                                        \
    } while (0)
#define WRITE(address, value) WRITE_BACK(address, value, 0)

// Effective addresses. `bus` becomes the last byte fetched, for open bus.
#define ZPX ((op.arg + X) & 0xFF)
#define ZPY ((op.arg + Y) & 0xFF)
#define POINTER(zp) (ram[(zp) & 0xFF] | ram[((zp) + 1) & 0xFF] << 8)
// Indexed read: one cycle more, and a dummy read at the unfixed address, when the page is crossed.
#define INDEXED_READ(base, index)                                 \
    ({                                                            \
        const unsigned b_ = (base), e_ = (b_ + (index)) & 0xFFFF; \
        bus = b_ >> 8;                                            \
        if ((b_ ^ e_) & 0xFF00) {                                 \
            ++cyc;                                                \
            const unsigned d_ = (b_ & 0xFF00) | (e_ & 0xFF);      \
            if (IS_IO(d_)) (void)SLOW_READ(d_, 1);                \
        }                                                         \
        e_;                                                       \
    })
// Indexed write or read-modify-write: the dummy read always happens, `back` cycles before the last.
#define INDEXED_WRITE(base, index, back)                          \
    ({                                                            \
        const unsigned b_ = (base), e_ = (b_ + (index)) & 0xFFFF; \
        bus = b_ >> 8;                                            \
        const unsigned d_ = (b_ & 0xFF00) | (e_ & 0xFF);          \
        if (IS_IO(d_)) (void)SLOW_READ(d_, back);                 \
        e_;                                                       \
    })
#define CROSSED(base, index) ((((base) & 0xFF) + (index)) >> 8)

// --- operations that read ---
#define LDA(m) (A = (m), SET_NZ(A))
#define LDX(m) (X = (m), SET_NZ(X))
#define LDY(m) (Y = (m), SET_NZ(Y))
#define LAX(m) (A = X = (m), SET_NZ(A))
#define ORA(m) (A |= (m), SET_NZ(A))
#define AND(m) (A &= (m), SET_NZ(A))
#define EOR(m) (A ^= (m), SET_NZ(A))
#define ADC(m)                                    \
    do {                                          \
        const unsigned m_ = (m), r_ = A + m_ + C; \
        V = (~(A ^ m_) & (A ^ r_)) >> 7 & 1;      \
        C = r_ >> 8;                              \
        A = r_ & 0xFF;                            \
        SET_NZ(A);                                \
    } while (0)
#define SBC(m) ADC((m) ^ 0xFFu)
#define COMPARE(reg, m)              \
    do {                             \
        const unsigned m_ = (m);     \
        C = (reg) >= m_;             \
        SET_NZ(((reg) - m_) & 0xFF); \
    } while (0)
#define CMP(m) COMPARE(A, m)
#define CPX(m) COMPARE(X, m)
#define CPY(m) COMPARE(Y, m)
#define BIT(m)                            \
    do {                                  \
        const unsigned m_ = (m);          \
        V = m_ >> 6 & 1;                  \
        NZ = (A & m_) | (m_ & 0x80) << 8; \
    } while (0)
#define IGNORE(m) (void)(m)

// --- addressing modes that read ---
#define READ_IMM(name, OP)  \
    do_##name##_imm : {     \
        ip += 2, cyc += 2;  \
        OP(op.arg & 0xFFu); \
        NEXT();             \
    }
#define READ_ZP(name, OP)       \
    do_##name##_zp : {          \
        ip += 2, cyc += 3;      \
        OP(ram[op.arg & 0xFF]); \
        NEXT();                 \
    }
#define READ_ZPI(name, mode, INDEX, OP) \
    do_##name##_##mode : {              \
        ip += 2, cyc += 4;              \
        OP(ram[INDEX]);                 \
        NEXT();                         \
    }
#define READ_ABS(name, OP) \
    do_##name##_abs : {    \
        ip += 3, cyc += 4; \
        bus = op.arg >> 8; \
        OP(READ(op.arg));  \
        NEXT();            \
    }
#define READ_ABI(name, mode, INDEX, OP)                       \
    do_##name##_##mode : {                                    \
        ip += 3, cyc += 4;                                    \
        const unsigned address = INDEXED_READ(op.arg, INDEX); \
        OP(READ(address));                                    \
        NEXT();                                               \
    }
#define READ_IZX(name, OP)                     \
    do_##name##_izx : {                        \
        ip += 2, cyc += 6;                     \
        const unsigned address = POINTER(ZPX); \
        bus = address >> 8;                    \
        OP(READ(address));                     \
        NEXT();                                \
    }
#define READ_IZY(name, OP)                                         \
    do_##name##_izy : {                                            \
        ip += 2, cyc += 5;                                         \
        const unsigned address = INDEXED_READ(POINTER(op.arg), Y); \
        OP(READ(address));                                         \
        NEXT();                                                    \
    }
#define READ_RAM(name, OP)       \
    do_##name##_ram : {          \
        ip += 3, cyc += 4;       \
        OP(ram[op.arg & 0x7FF]); \
        NEXT();                  \
    }
#define READ_RMI(name, mode, INDEX, OP)             \
    do_##name##_##mode : {                          \
        ip += 3, cyc += 4 + CROSSED(op.arg, INDEX); \
        OP(ram[(op.arg + INDEX) & 0x7FF]);          \
        NEXT();                                     \
    }
#define READ_ROI(name, mode, INDEX, OP)             \
    do_##name##_##mode : {                          \
        ip += 3, cyc += 4 + CROSSED(op.arg, INDEX); \
        const unsigned address = op.arg + INDEX;    \
        OP(PRG(address));                           \
        NEXT();                                     \
    }
#define READ_ALU(name, OP)       \
    READ_IMM(name, OP)           \
    READ_ZP(name, OP)            \
    READ_ZPI(name, zpx, ZPX, OP) \
    READ_ABS(name, OP)           \
    READ_ABI(name, abx, X, OP)   \
    READ_ABI(name, aby, Y, OP)   \
    READ_IZX(name, OP)           \
    READ_IZY(name, OP)           \
    READ_RAM(name, OP)           \
    READ_RMI(name, rmx, X, OP) READ_RMI(name, rmy, Y, OP) READ_ROI(name, rox, X, OP) READ_ROI(name, roy, Y, OP)

// --- addressing modes that write ---
#define STORE_ZP(name, VALUE)                             \
    do_##name##_zp : {                                    \
        ip += 2, cyc += 3;                                \
        ram[op.arg & 0xFF] = static_cast<uint8_t>(VALUE); \
        NEXT();                                           \
    }
#define STORE_ZPI(name, mode, INDEX, VALUE)       \
    do_##name##_##mode : {                        \
        ip += 2, cyc += 4;                        \
        ram[INDEX] = static_cast<uint8_t>(VALUE); \
        NEXT();                                   \
    }
#define STORE_ABS(name, VALUE) \
    do_##name##_abs : {        \
        ip += 3, cyc += 4;     \
        WRITE(op.arg, VALUE);  \
        NEXT();                \
    }
#define STORE_RAM(name, VALUE)                             \
    do_##name##_ram : {                                    \
        ip += 3, cyc += 4;                                 \
        ram[op.arg & 0x7FF] = static_cast<uint8_t>(VALUE); \
        NEXT();                                            \
    }
#define STORE_IZX(name, VALUE)                 \
    do_##name##_izx : {                        \
        ip += 2, cyc += 6;                     \
        const unsigned address = POINTER(ZPX); \
        WRITE(address, VALUE);                 \
        NEXT();                                \
    }
#define STORE_ABI(name, mode, INDEX, VALUE)                       \
    do_##name##_##mode : {                                        \
        ip += 3, cyc += 5;                                        \
        const unsigned address = INDEXED_WRITE(op.arg, INDEX, 1); \
        WRITE(address, VALUE);                                    \
        NEXT();                                                   \
    }
#define STORE_RMI(name, mode, INDEX, VALUE)                          \
    do_##name##_##mode : {                                           \
        ip += 3, cyc += 5;                                           \
        ram[(op.arg + INDEX) & 0x7FF] = static_cast<uint8_t>(VALUE); \
        NEXT();                                                      \
    }

// SHA, SHX, SHY, TAS store `value & (high byte of the base + 1)`; when the page is crossed, that is also the high byte
// of where it goes.
#define STORE_HIGH(base_, index_, value_)                                       \
    do {                                                                        \
        const unsigned base = (base_);                                          \
        unsigned address = INDEXED_WRITE(base, index_, 1);                      \
        const unsigned value = (value_) & ((base >> 8) + 1) & 0xFF;             \
        if ((base ^ address) & 0xFF00) address = (address & 0xFF) | value << 8; \
        WRITE(address, value);                                                  \
    } while (0)

// --- read, modify, write: the old value is written back one cycle before the new one ---
#define ASL(m) (C = (m) >> 7, (m) = (m) << 1 & 0xFF, SET_NZ(m))
#define LSR(m) (C = (m) & 1, (m) >>= 1, SET_NZ(m))
#define ROL(m)                            \
    do {                                  \
        const unsigned r_ = (m) << 1 | C; \
        C = r_ >> 8;                      \
        (m) = r_ & 0xFF;                  \
        SET_NZ(m);                        \
    } while (0)
#define ROR(m)                                 \
    do {                                       \
        const unsigned r_ = (m) >> 1 | C << 7; \
        C = (m) & 1;                           \
        (m) = r_;                              \
        SET_NZ(m);                             \
    } while (0)
#define INC(m) ((m) = ((m) + 1) & 0xFF, SET_NZ(m))
#define DEC(m) ((m) = ((m) - 1) & 0xFF, SET_NZ(m))
#define SLO(m)  \
    do {        \
        ASL(m); \
        ORA(m); \
    } while (0)
#define RLA(m)  \
    do {        \
        ROL(m); \
        AND(m); \
    } while (0)
#define SRE(m)  \
    do {        \
        LSR(m); \
        EOR(m); \
    } while (0)
#define RRA(m)  \
    do {        \
        ROR(m); \
        ADC(m); \
    } while (0)
#define DCP(m)                  \
    do {                        \
        (m) = ((m) - 1) & 0xFF; \
        COMPARE(A, m);          \
    } while (0)
#define ISC(m)                  \
    do {                        \
        (m) = ((m) + 1) & 0xFF; \
        SBC(m);                 \
    } while (0)

#define MODIFY_RAM(cell, OP)             \
    do {                                 \
        uint8_t &cell_ = ram[cell];      \
        unsigned m = cell_;              \
        OP(m);                           \
        cell_ = static_cast<uint8_t>(m); \
    } while (0)
#define MODIFY(address_, OP)                    \
    do {                                        \
        const unsigned at = (address_);         \
        unsigned m = READ_BACK(at, 2);          \
        if (at >= 0x2000) WRITE_BACK(at, m, 1); \
        OP(m);                                  \
        WRITE(at, m);                           \
    } while (0)
#define MODIFY_ZP(name, OP)            \
    do_##name##_zp : {                 \
        ip += 2, cyc += 5;             \
        MODIFY_RAM(op.arg & 0xFF, OP); \
        NEXT();                        \
    }                                  \
    do_##name##_zpx : {                \
        ip += 2, cyc += 6;             \
        MODIFY_RAM(ZPX, OP);           \
        NEXT();                        \
    }
#define MODIFY_ABS(name, OP)                                  \
    do_##name##_abs : {                                       \
        ip += 3, cyc += 6;                                    \
        bus = op.arg >> 8;                                    \
        MODIFY(op.arg, OP);                                   \
        NEXT();                                               \
    }                                                         \
    do_##name##_abx : {                                       \
        ip += 3, cyc += 7;                                    \
        const unsigned address = INDEXED_WRITE(op.arg, X, 3); \
        MODIFY(address, OP);                                  \
        NEXT();                                               \
    }
#define MODIFY_SHORT(name, OP)                \
    do_##name##_ram : {                       \
        ip += 3, cyc += 6;                    \
        MODIFY_RAM(op.arg & 0x7FF, OP);       \
        NEXT();                               \
    }                                         \
    do_##name##_rmx : {                       \
        ip += 3, cyc += 7;                    \
        MODIFY_RAM((op.arg + X) & 0x7FF, OP); \
        NEXT();                               \
    }
#define MODIFY_ACC(name, OP) \
    do_##name##_acc : {      \
        ip += 1, cyc += 2;   \
        OP(A);               \
        NEXT();              \
    }
#define MODIFY_MORE(name, OP)                                          \
    do_##name##_aby : {                                                \
        ip += 3, cyc += 7;                                             \
        const unsigned address = INDEXED_WRITE(op.arg, Y, 3);          \
        MODIFY(address, OP);                                           \
        NEXT();                                                        \
    }                                                                  \
    do_##name##_izx : {                                                \
        ip += 2, cyc += 8;                                             \
        const unsigned address = POINTER(ZPX);                         \
        bus = address >> 8;                                            \
        MODIFY(address, OP);                                           \
        NEXT();                                                        \
    }                                                                  \
    do_##name##_izy : {                                                \
        ip += 2, cyc += 8;                                             \
        const unsigned address = INDEXED_WRITE(POINTER(op.arg), Y, 3); \
        MODIFY(address, OP);                                           \
        NEXT();                                                        \
    }
#define SHIFT(name, OP) MODIFY_ACC(name, OP) MODIFY_ZP(name, OP) MODIFY_ABS(name, OP) MODIFY_SHORT(name, OP)
#define STEP(name, OP) MODIFY_ZP(name, OP) MODIFY_ABS(name, OP) MODIFY_SHORT(name, OP)
#define COMBINED(name, OP) MODIFY_ZP(name, OP) MODIFY_ABS(name, OP) MODIFY_MORE(name, OP)

// --- branches; the decoder left "crosses a page" in bit 8 of the operand ---
#define IF_bpl !FLAG_N
#define IF_bmi FLAG_N
#define IF_bvc !V
#define IF_bvs V
#define IF_bcc !C
#define IF_bcs C
#define IF_bne !FLAG_Z
#define IF_beq FLAG_Z
#define RUN_BRANCH(CONDITION)                   \
    ip += 2, cyc += 2;                          \
    if (CONDITION) {                            \
        ip += static_cast<int8_t>(op.arg);      \
        cyc += 1 + (op.arg >> 8);               \
        if (__builtin_expect(cyc >= stop, 0)) { \
            if (op.arg >> 8) goto event;        \
            goto event_branch;                  \
        }                                       \
        DISPATCH();                             \
    }                                           \
    NEXT()

// --- the parts of fused pairs ---
// Between the two: the boundary an interrupt could use, then the second's operand.
#define BETWEEN()                                     \
    if (__builtin_expect(cyc >= stop, 0)) goto event; \
    op = *ip
#define RUN_lda_imm (ip += 2, cyc += 2, LDA(op.arg & 0xFFu))
#define RUN_lda_zp (ip += 2, cyc += 3, LDA(ram[op.arg & 0xFF]))
#define RUN_lda_zpx (ip += 2, cyc += 4, LDA(ram[ZPX]))
#define RUN_lda_ram (ip += 3, cyc += 4, LDA(ram[op.arg & 0x7FF]))
#define RUN_lda_rmx (ip += 3, cyc += 4 + CROSSED(op.arg, X), LDA(ram[(op.arg + X) & 0x7FF]))
#define RUN_lda_rox (ip += 3, cyc += 4 + CROSSED(op.arg, X), LDA(PRG(op.arg + X)))
#define RUN_lda_roy (ip += 3, cyc += 4 + CROSSED(op.arg, Y), LDA(PRG(op.arg + Y)))
#define RUN_ldy_zp (ip += 2, cyc += 3, LDY(ram[op.arg & 0xFF]))
#define RUN_ldy_ram (ip += 3, cyc += 4, LDY(ram[op.arg & 0x7FF]))
#define RUN_adc_imm    \
    ip += 2, cyc += 2; \
    ADC(op.arg & 0xFFu)
#define RUN_sbc_imm    \
    ip += 2, cyc += 2; \
    SBC(op.arg & 0xFFu)
#define RUN_cmp_imm    \
    ip += 2, cyc += 2; \
    CMP(op.arg & 0xFFu)
#define RUN_cmp_zp     \
    ip += 2, cyc += 3; \
    CMP(ram[op.arg & 0xFF])
#define RUN_cpx_imm    \
    ip += 2, cyc += 2; \
    CPX(op.arg & 0xFFu)
#define RUN_cpy_imm    \
    ip += 2, cyc += 2; \
    CPY(op.arg & 0xFFu)
#define RUN_and_imm (ip += 2, cyc += 2, AND(op.arg & 0xFFu))
#define RUN_dex (ip += 1, cyc += 2, X = (X - 1) & 0xFF, SET_NZ(X))
#define RUN_dey (ip += 1, cyc += 2, Y = (Y - 1) & 0xFF, SET_NZ(Y))
#define RUN_inx (ip += 1, cyc += 2, X = (X + 1) & 0xFF, SET_NZ(X))
#define RUN_iny (ip += 1, cyc += 2, Y = (Y + 1) & 0xFF, SET_NZ(Y))
#define RUN_lsr_acc (ip += 1, cyc += 2, LSR(A))
#define RUN_sta_zp (ip += 2, cyc += 3, ram[op.arg & 0xFF] = static_cast<uint8_t>(A))
#define RUN_sta_zpx (ip += 2, cyc += 4, ram[ZPX] = static_cast<uint8_t>(A))
#define RUN_sta_ram (ip += 3, cyc += 4, ram[op.arg & 0x7FF] = static_cast<uint8_t>(A))
#define RUN_sta_rmx (ip += 3, cyc += 5, ram[(op.arg + X) & 0x7FF] = static_cast<uint8_t>(A))
#define RUN_sta_rmy (ip += 3, cyc += 5, ram[(op.arg + Y) & 0x7FF] = static_cast<uint8_t>(A))
#define RUN_asl_acc (ip += 1, cyc += 2, ASL(A))
#define RUN_clc (ip += 1, cyc += 2, C = 0)
#define RUN_sec (ip += 1, cyc += 2, C = 1)
#define RUN_pla (ip += 1, cyc += 4, A = POP(), SET_NZ(A))
#define RUN_tay (ip += 1, cyc += 2, Y = A, SET_NZ(Y))
#define RUN_adc_zp     \
    ip += 2, cyc += 3; \
    ADC(ram[op.arg & 0xFF])
#define RUN_adc_roy                         \
    ip += 3, cyc += 4 + CROSSED(op.arg, Y); \
    ADC(PRG(op.arg + Y))
#define RUN_adc_rmy                         \
    ip += 3, cyc += 4 + CROSSED(op.arg, Y); \
    ADC(ram[(op.arg + Y) & 0x7FF])
#define RUN_sbc_zp     \
    ip += 2, cyc += 3; \
    SBC(ram[op.arg & 0xFF])
#define RUN_sbc_zpx    \
    ip += 2, cyc += 4; \
    SBC(ram[ZPX])
