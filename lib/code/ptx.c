/* Builds an ssa_function from PTX, as parsed by the emulator. */
#include <string.h>

#include "lib/code/execute.h"
#include "lib/code/function.h"
#include "lib/emulator/program/program.h"

/* ---- tables ---- */

typedef struct opcode_row {
    uint8_t op, class;
} opcode_row;

static const opcode_row rows[EM_OPCODES] = {
    [EM_OP_add] = {SSA_ADD, CUTE_CODE_INTEGER},     [EM_OP_sub] = {SSA_SUB, CUTE_CODE_INTEGER},
    [EM_OP_neg] = {SSA_NEG, CUTE_CODE_INTEGER},     [EM_OP_mul] = {SSA_MUL, CUTE_CODE_INTEGER},
    [EM_OP_mad] = {SSA_MAD, CUTE_CODE_INTEGER},     [EM_OP_fma] = {SSA_OTHER, CUTE_CODE_FLOAT},
    [EM_OP_mul24] = {SSA_OTHER, CUTE_CODE_INTEGER}, [EM_OP_mad24] = {SSA_OTHER, CUTE_CODE_INTEGER},
    [EM_OP_div] = {SSA_DIV, CUTE_CODE_INTEGER},     [EM_OP_rem] = {SSA_REM, CUTE_CODE_INTEGER},
    [EM_OP_min] = {SSA_MIN, CUTE_CODE_INTEGER},     [EM_OP_max] = {SSA_MAX, CUTE_CODE_INTEGER},
    [EM_OP_and] = {SSA_AND, CUTE_CODE_LOGIC},       [EM_OP_or] = {SSA_OR, CUTE_CODE_LOGIC},
    [EM_OP_xor] = {SSA_XOR, CUTE_CODE_LOGIC},       [EM_OP_not] = {SSA_NOT, CUTE_CODE_LOGIC},
    [EM_OP_shl] = {SSA_SHL, CUTE_CODE_LOGIC},       [EM_OP_shr] = {SSA_SHR, CUTE_CODE_LOGIC},
    [EM_OP_lop3] = {SSA_LOP3, CUTE_CODE_LOGIC},     [EM_OP_bfe] = {SSA_BFE, CUTE_CODE_LOGIC},
    [EM_OP_shf] = {SSA_OTHER, CUTE_CODE_LOGIC},     [EM_OP_prmt] = {SSA_PERMUTE, CUTE_CODE_LOGIC},
    [EM_OP_brev] = {SSA_BREV, CUTE_CODE_INTEGER},   [EM_OP_popc] = {SSA_POPC, CUTE_CODE_INTEGER},
    [EM_OP_bfi] = {SSA_OTHER, CUTE_CODE_LOGIC},     [EM_OP_mov] = {SSA_MOV, CUTE_CODE_MOVE},
    [EM_OP_selp] = {SSA_SELECT, CUTE_CODE_MOVE},    [EM_OP_setp] = {SSA_SETP, CUTE_CODE_COMPARE},
    [EM_OP_set] = {SSA_OTHER, CUTE_CODE_COMPARE},   [EM_OP_cvta] = {SSA_MOV, CUTE_CODE_INTEGER},
    [EM_OP_rcp] = {SSA_OTHER, CUTE_CODE_SPECIAL},   [EM_OP_sqrt] = {SSA_OTHER, CUTE_CODE_SPECIAL},
    [EM_OP_rsqrt] = {SSA_OTHER, CUTE_CODE_SPECIAL}, [EM_OP_ex2] = {SSA_OTHER, CUTE_CODE_SPECIAL},
    [EM_OP_lg2] = {SSA_OTHER, CUTE_CODE_SPECIAL},   [EM_OP_sin] = {SSA_OTHER, CUTE_CODE_SPECIAL},
    [EM_OP_cos] = {SSA_OTHER, CUTE_CODE_SPECIAL},   [EM_OP_tanh] = {SSA_OTHER, CUTE_CODE_SPECIAL},
};

static const uint8_t class_of[EM_CLASSES] = {
    [EM_CLASS_INTEGER] = CUTE_CODE_INTEGER,
    [EM_CLASS_FLOAT] = CUTE_CODE_FLOAT,
    [EM_CLASS_CONVERSION] = CUTE_CODE_CONVERT,
    [EM_CLASS_MOVE] = CUTE_CODE_MOVE,
    [EM_CLASS_MEMORY_GLOBAL] = CUTE_CODE_LOAD_GLOBAL,
    [EM_CLASS_MEMORY_SHARED] = CUTE_CODE_LOAD_SHARED,
    [EM_CLASS_MEMORY_LOCAL] = CUTE_CODE_LOAD_LOCAL,
    [EM_CLASS_MEMORY_CONSTANT] = CUTE_CODE_CONSTANT,
    [EM_CLASS_MEMORY_GENERIC] = CUTE_CODE_LOAD_GLOBAL,
    [EM_CLASS_WARP] = CUTE_CODE_SHUFFLE,
    [EM_CLASS_CONTROL] = CUTE_CODE_CONTROL,
    [EM_CLASS_BARRIER] = CUTE_CODE_SYNC,
    [EM_CLASS_TENSOR] = CUTE_CODE_TENSOR,
    [EM_CLASS_COPY] = CUTE_CODE_ASYNC,
};

static const uint8_t space_of[] = {
    [EM_GENERIC] = CUTE_CODE_SPACE_GENERIC, [EM_GLOBAL] = CUTE_CODE_SPACE_GLOBAL,
    [EM_CONST] = CUTE_CODE_SPACE_CONST,     [EM_SHARED] = CUTE_CODE_SPACE_SHARED,
    [EM_LOCAL] = CUTE_CODE_SPACE_LOCAL,     [EM_PARAM] = CUTE_CODE_SPACE_CONST,
};

static const uint8_t sreg_of[EM_SREGS] = {
    [EM_SREG_tid_x] = SSA_SREG_TID_X,
    [EM_SREG_tid_y] = SSA_SREG_TID_Y,
    [EM_SREG_tid_z] = SSA_SREG_TID_Z,
    [EM_SREG_ntid_x] = SSA_SREG_NTID_X,
    [EM_SREG_ntid_y] = SSA_SREG_NTID_Y,
    [EM_SREG_ntid_z] = SSA_SREG_NTID_Z,
    [EM_SREG_ctaid_x] = SSA_SREG_CTAID_X,
    [EM_SREG_ctaid_y] = SSA_SREG_CTAID_Y,
    [EM_SREG_ctaid_z] = SSA_SREG_CTAID_Z,
    [EM_SREG_nctaid_x] = SSA_SREG_NCTAID_X,
    [EM_SREG_nctaid_y] = SSA_SREG_NCTAID_Y,
    [EM_SREG_nctaid_z] = SSA_SREG_NCTAID_Z,
    [EM_SREG_laneid] = SSA_SREG_LANE,
    [EM_SREG_lanemask_eq] = SSA_SREG_LANEMASK_EQ,
    [EM_SREG_lanemask_lt] = SSA_SREG_LANEMASK_LT,
    [EM_SREG_lanemask_le] = SSA_SREG_LANEMASK_LE,
    [EM_SREG_lanemask_gt] = SSA_SREG_LANEMASK_GT,
    [EM_SREG_lanemask_ge] = SSA_SREG_LANEMASK_GE,
};

static ssa_sreg convert_sreg(uint32_t which)
{
    bool first = which == EM_SREG_tid_x;
    return which < EM_SREGS && (sreg_of[which] || first) ? (ssa_sreg)sreg_of[which] : SSA_SREG_UNIFORM;
}

/* ---- operands ---- */

typedef struct maker {
    cute_arena *arena;
    const em_program *program;
    const em_function *kernel;
    ssa_inst *to;
    ssa_operand uses[256];
    uint32_t defs[256];
    unsigned use_count, def_count;
} maker;

static int64_t read_constant(const em_program *p, const em_function *kernel, const em_operand *o)
{
    int64_t value = 0;
    for (size_t r = 0; r < p->reloc_count; r++)
        if (p->relocs[r].at == o->at) {
            em_shared_offset(kernel, p->relocs[r].variable, &value);
            return value + p->relocs[r].offset;
        }
    unsigned bytes = o->bytes == 2 ? 2 : o->bytes ? o->bytes < 8 ? o->bytes : 8 : 4;
    if (o->at <= p->pool_length && bytes <= p->pool_length - o->at) memcpy(&value, p->pool + o->at, bytes);
    return o->bytes ? value : value & 1;
}

static ssa_operand convert_operand(const em_program *p, const em_function *kernel, const em_operand *o)
{
    ssa_operand out = {0};
    if (o->kind == EM_O_IMMEDIATE) out = (ssa_operand){.kind = SSA_IMM, .imm = o->offset};
    if (o->kind == EM_O_SREG) out = (ssa_operand){.kind = SSA_SREG, .imm = convert_sreg(o->at)};
    if (o->kind != EM_O_VALUE) return out;
    if (o->base == EM_BASE_REGISTERS) out = (ssa_operand){.kind = SSA_VAR, .var = o->at / 64};
    if (o->base == EM_BASE_SREGS)
        out = (ssa_operand){.kind = SSA_SREG, .imm = convert_sreg(o->at / (4 * EM_LANES))};
    if (o->base == EM_BASE_CONSTANTS)
        out = (ssa_operand){.kind = SSA_IMM, .imm = read_constant(p, kernel, o)};
    out.inverted = o->negated;
    out.bits = (uint8_t)(o->kind == EM_O_IMMEDIATE ? 0 : evaluate_bits(o));
    return out;
}

ssa_operand ssa_ptx_operand(const ssa_function *f, const em_operand *o)
{
    return convert_operand(f->program, f->kernel, o);
}

static int add_use(maker *m, const em_operand *o)
{
    if (m->use_count == sizeof m->uses / sizeof *m->uses) return -1;
    m->uses[m->use_count] = convert_operand(m->program, m->kernel, o);
    return (int)m->use_count++;
}

static void add_def(maker *m, const em_operand *o)
{
    if (o->kind == EM_O_VALUE && o->base == EM_BASE_REGISTERS &&
        m->def_count < sizeof m->defs / sizeof *m->defs)
        m->defs[m->def_count++] = o->at / 64;
}

static void add_operand(maker *m, const em_operand *o, bool result)
{
    if (o->kind == EM_O_VECTOR) {
        for (unsigned k = 0; k < o->count; k++) add_operand(m, &o->list[k], result);
    } else if (o->kind == EM_O_MEMORY) {
        for (unsigned k = 0; k < o->count; k++) {
            if (o->list[k].kind == EM_O_VECTOR) {
                add_operand(m, &o->list[k], false);
                continue;
            }
            int at = add_use(m, &o->list[k]);
            /* The last address of a copy is its source in global memory. */
            if (k == 0 && at >= 0) {
                m->to->address = (int16_t)at;
                m->to->offset = o->offset;
            }
        }
    } else if (result) {
        add_def(m, o);
    } else if (o->kind != EM_O_NONE && o->kind != EM_O_LABEL && o->kind != EM_O_FUNCTION) {
        int at = add_use(m, o);
        if (at >= 0 && m->to->address >= 0 && m->to->data < 0) m->to->data = (int16_t)at;
    }
}

/* ---- instructions ---- */

static bool contains(const ssa_inst *i, const char *word)
{
    return memmem(i->text, i->length, word, strlen(word)) != NULL;
}

static bool is_half(uint8_t t)
{
    return t == PTX_f16 || t == PTX_bf16 || t == PTX_f16x2 || t == PTX_bf16x2;
}

static void set_compare(const em_inst *i, ssa_inst *to)
{
    static const struct {
        uint8_t modifier, compare;
        bool is_unsigned;
    } words[] = {{EM_M_eq, SSA_EQ, false}, {EM_M_ne, SSA_NE, false}, {EM_M_lt, SSA_LT, false},
                 {EM_M_le, SSA_LE, false}, {EM_M_gt, SSA_GT, false}, {EM_M_ge, SSA_GE, false},
                 {EM_M_lo, SSA_LT, true},  {EM_M_ls, SSA_LE, true},  {EM_M_hi, SSA_GT, true},
                 {EM_M_hs, SSA_GE, true}};
    to->op = SSA_OTHER;
    if (em_has(i, EM_M_and) || em_has(i, EM_M_or) || em_has(i, EM_M_xor)) return;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (em_has(i, (em_modifier)words[k].modifier)) {
            to->op = SSA_SETP;
            to->compare = words[k].compare;
            if (words[k].is_unsigned) to->is_signed = false;
        }
}

/* Modes of prmt whose selector is not per byte. */
static const em_modifier permutations[] = {EM_M_f4e, EM_M_b4e, EM_M_rc8, EM_M_ecl, EM_M_ecr, EM_M_rc16};

static void set_arithmetic(const em_inst *i, ssa_inst *to)
{
    const ptx_type_info *type = &ptx_types[i->type];
    bool real = type->kind == PTX_FLOAT;
    to->bits = type->bytes && type->bytes <= 8 ? (uint8_t)(type->bytes * 8) : 64;
    if (type->kind == PTX_PREDICATE) to->bits = 1;
    to->is_signed = type->kind == PTX_SIGNED;
    to->element = type->bytes;
    to->op = rows[i->opcode].op;
    if (rows[i->opcode].class || to->op) to->class = rows[i->opcode].class;
    bool computes = i->class == EM_CLASS_FLOAT || (real && to->class == CUTE_CODE_INTEGER) ||
                    to->class == CUTE_CODE_SPECIAL || i->opcode == EM_OP_fma;
    if (real && computes) {
        bool is_double = i->type == PTX_f64;
        to->flags |= INST_MATH | (is_double ? INST_DOUBLE : 0) | (is_half(i->type) ? INST_HALF : 0);
        if (i->type == PTX_f16 || i->type == PTX_bf16) to->flags |= INST_HALF_SCALAR;
        if (i->opcode == EM_OP_fma || i->opcode == EM_OP_mad) to->flags |= INST_FMA;
        if (i->opcode == EM_OP_add) to->flags |= INST_FLOAT_ADD;
        if ((i->opcode == EM_OP_div || i->opcode == EM_OP_sqrt || i->opcode == EM_OP_rcp) &&
            !em_has(i, EM_M_approx) && !em_has(i, EM_M_full))
            to->flags |= INST_SLOW_MATH;
        if (to->class != CUTE_CODE_SPECIAL)
            to->class = is_double                ? CUTE_CODE_DOUBLE
                        : is_half(i->type)       ? CUTE_CODE_HALF
                        : i->opcode == EM_OP_div ? CUTE_CODE_SPECIAL
                                                 : CUTE_CODE_FLOAT;
        to->op = SSA_OTHER;
        return;
    }
    if (real && i->opcode != EM_OP_mov && i->opcode != EM_OP_selp) to->op = SSA_OTHER;
    if (type->count > 1 && to->op != SSA_MOV) to->op = SSA_OTHER;
    if ((i->opcode == EM_OP_mul || i->opcode == EM_OP_mad) && !real) {
        if (em_has(i, EM_M_hi)) to->op = i->opcode == EM_OP_mul ? SSA_MUL_HIGH : SSA_OTHER;
        if (em_has(i, EM_M_wide)) to->bits = (uint8_t)(to->bits * 2);
        if (type->bytes == 8) to->flags |= INST_MULTIPLY_64;
    }
    if (i->opcode == EM_OP_add && em_has(i, EM_M_sat)) to->op = SSA_OTHER;
    if (i->opcode == EM_OP_setp && !real) set_compare(i, to);
    if (i->opcode == EM_OP_lop3) to->table = i->lane.table;
    for (size_t m = 0; i->opcode == EM_OP_prmt && m < sizeof permutations / sizeof *permutations; m++)
        if (em_has(i, permutations[m])) to->op = SSA_OTHER;
    if (i->opcode == EM_OP_mov && i->o[0].kind == EM_O_VECTOR) to->op = SSA_OTHER;
    if (i->opcode == EM_OP_mov && i->count > 1 && i->o[1].kind == EM_O_VECTOR) to->op = SSA_OTHER;
    if (i->opcode == EM_OP_cvt && i->type_count > 1) {
        const ptx_type_info *from = &ptx_types[i->types[1]];
        bool from_real = from->kind == PTX_FLOAT;
        if (!real && !from_real && from->bytes && !em_has(i, EM_M_sat)) {
            to->op = SSA_EXTEND;
            to->class = CUTE_CODE_INTEGER;
            unsigned least = from->bytes < type->bytes ? from->bytes : type->bytes;
            to->shift = (uint8_t)(least * 8);
            /* A truncated value is extended with the sign of the narrower type. */
            to->is_signed = (from->bytes <= type->bytes ? from : type)->kind == PTX_SIGNED;
        }
        if (i->type == PTX_f64 && from_real && i->types[1] != PTX_f64) to->flags |= INST_TO_DOUBLE;
        if (i->types[1] == PTX_f64 && real && i->type != PTX_f64) to->flags |= INST_FROM_DOUBLE;
        if (i->type == PTX_f32 && is_half(i->types[1])) to->flags |= INST_WIDEN_HALF;
    }
}

static void set_memory(const em_inst *i, ssa_inst *to)
{
    bool store = i->opcode == EM_OP_st, atomic = i->opcode == EM_OP_atom || i->opcode == EM_OP_red;
    bool load = i->opcode == EM_OP_ld || i->opcode == EM_OP_ldu;
    unsigned bytes = ptx_types[i->type].bytes;
    if (em_uses_object(i)) {
        to->class = CUTE_CODE_TEXTURE;
        to->space = CUTE_CODE_SPACE_TEXTURE;
    }
    if (!store && !atomic && !load && i->opcode != EM_OP_ldmatrix && i->opcode != EM_OP_stmatrix) return;
    to->space = i->space < sizeof space_of ? space_of[i->space] : CUTE_CODE_SPACE_GENERIC;
    to->access = atomic                                 ? CUTE_ACCESS_ATOMIC
                 : store || i->opcode == EM_OP_stmatrix ? CUTE_ACCESS_STORE
                                                        : CUTE_ACCESS_LOAD;
    to->element = (uint16_t)bytes;
    to->width = (uint16_t)(bytes * (atomic || !i->memory.vector ? 1 : i->memory.vector));
    if (i->opcode == EM_OP_ldmatrix || i->opcode == EM_OP_stmatrix) {
        to->space = CUTE_CODE_SPACE_SHARED;
        to->width = em_has(i, EM_M_x4) ? 16 : em_has(i, EM_M_x2) ? 8 : 4;
        to->flags |= INST_TENSOR_LOAD;
    }
    if (em_has(i, EM_M_volatile)) to->flags |= INST_VOLATILE;
    if (em_has(i, EM_M_nc)) to->flags |= INST_READ_ONLY;
    if (em_has(i, EM_M_acquire) || em_has(i, EM_M_relaxed) || em_has(i, EM_M_mmio)) to->flags |= INST_ORDERED;
    bool local = to->space == CUTE_CODE_SPACE_LOCAL, shared = to->space == CUTE_CODE_SPACE_SHARED;
    to->class = atomic                               ? CUTE_CODE_ATOMIC
                : to->space == CUTE_CODE_SPACE_CONST ? CUTE_CODE_CONSTANT
                : to->access == CUTE_ACCESS_LOAD     ? local    ? CUTE_CODE_LOAD_LOCAL
                                                       : shared ? CUTE_CODE_LOAD_SHARED
                                                                : CUTE_CODE_LOAD_GLOBAL
                : local                              ? CUTE_CODE_STORE_LOCAL
                : shared                             ? CUTE_CODE_STORE_SHARED
                                                     : CUTE_CODE_STORE_GLOBAL;
}

static void set_synchronisation(const em_inst *i, ssa_inst *to)
{
    if (i->opcode == EM_OP_bar || i->opcode == EM_OP_barrier)
        to->flags |= em_has(i, EM_M_warp) || em_has(i, EM_M_arrive) ? 0 : INST_BARRIER;
    if ((i->opcode == EM_OP_membar || i->opcode == EM_OP_fence) && em_has(i, EM_M_sys) &&
        !em_has(i, EM_M_proxy))
        to->flags |= INST_SYSTEM_FENCE;
    if (i->opcode == EM_OP_cp) {
        if (em_has(i, EM_M_bulk) && !contains(to, "_group"))
            to->flags |= INST_TMA;
        else if (em_has(i, EM_M_wait_group) || em_has(i, EM_M_wait_all))
            to->flags |= INST_WAIT_ASYNC;
        else if (em_has(i, EM_M_async) && (em_has(i, EM_M_ca) || em_has(i, EM_M_cg))) {
            to->flags |= INST_ASYNC;
            to->access = CUTE_ACCESS_COPY;
            to->space = CUTE_CODE_SPACE_GLOBAL;
            to->width = i->copy.bytes;
        }
        if (to->flags & INST_WAIT_ASYNC) to->offset = em_has(i, EM_M_wait_all) ? 0 : i->group.allowed;
    }
    if (i->opcode == EM_OP_mbarrier && (em_has(i, EM_M_test_wait) || em_has(i, EM_M_try_wait)))
        to->flags |= INST_WAIT_MBARRIER;
    if (i->opcode == EM_OP_wgmma) {
        if (em_has(i, EM_M_mma_async)) to->flags |= INST_WGMMA, to->class = CUTE_CODE_TENSOR;
        if (em_has(i, EM_M_wait_group)) to->flags |= INST_WGMMA_WAIT, to->offset = i->group.allowed;
    }
    if (i->opcode == EM_OP_mma || (i->opcode == EM_OP_wmma && contains(to, "wmma.mma")))
        to->flags |= INST_MMA;
    if (i->opcode == EM_OP_tcgen05) {
        bool product = contains(to, ".mma");
        to->class = product ? CUTE_CODE_TENSOR : CUTE_CODE_ASYNC;
        if (product) to->flags |= INST_WGMMA;
    }
    if (i->opcode == EM_OP_setmaxnreg) to->flags |= INST_SETMAXNREG;
    if (i->opcode == EM_OP_call) to->flags |= INST_CALL;
    if (i->opcode == EM_OP_bra) to->flags |= INST_BRANCH;
}

static bool set_operands(maker *m, const em_inst *i, ssa_inst *to)
{
    unsigned results = i->results;
    m->use_count = m->def_count = 0;
    for (unsigned k = 0; k < i->count; k++) add_operand(m, &i->o[k], k < results);
    /* wgmma reads and writes its accumulators. */
    if (to->flags & INST_WGMMA && !i->unread && i->count && i->o[0].kind == EM_O_VECTOR) {
        m->def_count = 0;
        for (unsigned k = 0; k < i->o[0].count; k++) add_def(m, &i->o[0].list[k]);
    }
    if (i->opcode == EM_OP_div || i->opcode == EM_OP_rem) {
        const ssa_operand *by = m->use_count > 1 ? &m->uses[1] : NULL;
        if (ptx_types[i->type].kind != PTX_FLOAT && by && by->kind != SSA_IMM) to->flags |= INST_DIVIDE;
    }
    to->guard = -1;
    if (i->guard) {
        em_operand guard = {
            .kind = EM_O_VALUE, .base = EM_BASE_REGISTERS, .at = i->guard_at}; /* bytes 0: a predicate */
        int at = add_use(m, &guard);
        if (at >= 0) m->uses[at].inverted = i->guard == 2;
        to->guard = (int16_t)at;
        /* If the guard is false, the results keep their values. */
        for (unsigned d = 0; d < m->def_count && m->use_count < sizeof m->uses / sizeof *m->uses; d++)
            m->uses[m->use_count++] = (ssa_operand){.kind = SSA_VAR, .var = m->defs[d]};
    }
    to->uses = cute_arena_array(m->arena, m->use_count + 1, sizeof *to->uses);
    to->defs = cute_arena_array(m->arena, m->def_count + 1, sizeof *to->defs);
    if (!to->uses || !to->defs) return false;
    memcpy(to->uses, m->uses, m->use_count * sizeof *to->uses);
    memcpy(to->defs, m->defs, m->def_count * sizeof *to->defs);
    to->use_count = (uint16_t)m->use_count;
    to->def_count = (uint16_t)m->def_count;
    return true;
}

/* Instructions that the parser inserts: addresses of local memory, and array[index]. */
static void set_hidden_inst(const em_inst *i, ssa_inst *to)
{
    to->flags = 0;
    to->access = CUTE_ACCESS_NONE;
    to->class = CUTE_CODE_INTEGER;
    to->bits = 64;
    to->op = SSA_OTHER;
    if (i->count == 1) {
        to->op = SSA_MOV;
        to->use_count = 1;
        to->uses[0] = (ssa_operand){.kind = SSA_IMM, .imm = i->o[0].offset};
    } else if (i->count == 3 && to->use_count >= 2) {
        to->op = SSA_LEA;
        ssa_operand base = to->uses[0];
        to->uses[0] = to->uses[1];
        to->uses[1] = base;
        while (to->shift < 4 && 1u << to->shift < i->element.bytes) to->shift++;
    }
}

/* Call parameters: in the frame on the emulator, in registers on a GPU. */
static bool is_call_parameter(const em_inst *i)
{
    return i->space == EM_LOCAL && (em_has(i, EM_M_param) || em_has(i, EM_M_param_func));
}

static bool set_inst(maker *m, const em_inst *i, ssa_inst *to)
{
    const em_program *p = m->program;
    m->to = to;
    to->ptx = i;
    to->sass = -1;
    to->address = to->address2 = to->data = -1;
    to->target = -1;
    to->guard = -1;
    to->text = p->text + i->where;
    const char *end = memchr(to->text, ';', p->length - i->where);
    to->length = (uint32_t)(end ? end - to->text : 0);
    const em_loc *loc = em_loc_of(p, i);
    if (loc && loc->line) to->file = loc->file, to->line = loc->line;
    to->class = i->class < EM_CLASSES ? class_of[i->class] : CUTE_CODE_OTHER;
    if (i->hidden) {
        bool ok =
            set_operands(m, &(em_inst){.o = i->o, .count = i->count, .results = 1, .opcode = EM_OP_mov}, to);
        if (ok) set_hidden_inst(i, to);
        return ok;
    }
    set_synchronisation(i, to);
    if (is_call_parameter(i)) {
        to->class = CUTE_CODE_CONSTANT;
        to->op = SSA_OTHER;
    } else if (!(to->flags & (INST_ASYNC | INST_TMA | INST_WGMMA))) {
        set_memory(i, to);
        if (to->access == CUTE_ACCESS_NONE && i->class != EM_CLASS_WARP && i->class != EM_CLASS_TENSOR) {
            uint8_t class = to->class;
            set_arithmetic(i, to);
            if (i->class == EM_CLASS_BARRIER || i->class == EM_CLASS_COPY || i->class == EM_CLASS_CONTROL)
                to->class = class, to->op = SSA_OTHER;
        }
    }
    int64_t wait = to->offset;
    if (i->opcode == EM_OP_cvta && i->space == EM_LOCAL) to->flags |= INST_ADDRESS_TAKEN;
    if (i->opcode == EM_OP_cvta) to->op = SSA_MOV, to->bits = 64;
    if (!set_operands(m, i, to)) return false;
    if (to->flags & (INST_WAIT_ASYNC | INST_WGMMA_WAIT)) to->offset = wait;
    if (to->flags & (INST_WAIT_MBARRIER | INST_TMA)) to->op = SSA_OTHER;
    /* ld.param becomes a move of the argument. */
    if (to->access == CUTE_ACCESS_LOAD && i->space == EM_PARAM && to->address >= 0 &&
        to->uses[to->address].kind == SSA_IMM && to->def_count == 1) {
        to->op = SSA_MOV;
        to->access = CUTE_ACCESS_NONE;
        to->bits = 64;
        to->uses[0] =
            (ssa_operand){.kind = SSA_ARG, .imm = to->uses[to->address].imm + to->offset, .bits = to->bits};
        to->use_count = 1;
        to->guard = to->address = to->data = -1;
    }
    return true;
}

/* ---- control flow ---- */

static const cute_opcode *flow_opcode(const em_inst *i)
{
    static const cute_opcode next = {.name = "", .roles = "", .flow = CUTE_FLOW_NEXT},
                             branch = {.name = "BRA", .roles = "", .flow = CUTE_FLOW_BRANCH},
                             indexed = {.name = "BRX", .roles = "", .flow = CUTE_FLOW_INDEX},
                             leave = {.name = "EXIT", .roles = "", .flow = CUTE_FLOW_EXIT};
    switch (i->control) {
    case EM_NEXT: return &next;
    case EM_BRANCH: return &branch;
    case EM_BRANCH_INDEX: return &indexed;
    default: return &leave;
    }
}

static void add_edge(cute_code_block *block, cute_code_edge *edges, uint32_t to, cute_code_edge_kind kind)
{
    for (uint32_t e = 0; e < block->edge_count; e++)
        if (edges[e].to == to) return;
    edges[block->edge_count++] = (cute_code_edge){to, kind};
}

/* In the order of SASS: first the fall-through edge; each target once. */
static bool make_edges(ssa_function *f, const em_flow *flow, const em_inst *last, uint32_t b)
{
    const cute_graph *g = &flow->graph;
    cute_code_block *block = &f->flow->blocks[b];
    uint32_t first = g->out[b], end = g->out[b + 1];
    bool falls = (last->guard || last->control == EM_NEXT) && b + 1 < g->count;
    cute_code_edge *edges = cute_arena_array(f->arena, (size_t)(end - first) + 1, sizeof *edges);
    if (!edges) return false;
    if (falls) add_edge(block, edges, g->edges[--end].to, CUTE_EDGE_NEXT);
    for (uint32_t e = first; e < end; e++) add_edge(block, edges, g->edges[e].to, CUTE_EDGE_BRANCH);
    block->edges = edges;
    block->leaves = last->control >= EM_EXIT;
    if (end > first && last->count)
        f->insts[block->first + block->count - 1].target =
            (int64_t)f->flow->blocks[g->edges[end - 1].to].first;
    return true;
}

static bool make_flow(ssa_function *f, const em_program *program, const em_function *k)
{
    const em_flow *from = &k->flow;
    uint32_t count = from->graph.count;
    cute_code_function *flow = f->flow = cute_arena_alloc(f->arena, sizeof *flow);
    if (!flow) return false;
    *flow = (cute_code_function){
        .name = k->name,
        .count = f->count,
        .instructions = cute_arena_array(f->arena, f->count + 1, sizeof *flow->instructions),
        .blocks = cute_arena_array(f->arena, (size_t)count + 1, sizeof *flow->blocks),
        .block_count = count};
    if (!flow->instructions || !flow->blocks) return false;
    for (uint32_t b = 0; b < count; b++)
        flow->blocks[b] = (cute_code_block){.first = from->first[b] - k->start,
                                            .count = from->first[b + 1] - from->first[b]};
    for (size_t n = 0; n < f->count; n++) {
        flow->instructions[n].opcode = flow_opcode(&program->code[k->start + n]);
        f->insts[n].block = from->block_of[n];
    }
    for (uint32_t b = 0; b < count; b++)
        if (!make_edges(f, from, &program->code[from->first[b + 1] - 1], b)) return false;
    return cute_code_find_loops(f->arena, flow);
}

/* Sets the reconvergence blocks of branches, and `in_loop`. */
static bool find_reconvergence(ssa_function *f)
{
    const em_function *k = f->kernel;
    const cute_graph *g = &k->flow.graph;
    for (size_t b = 0; b < f->flow->block_count; b++) {
        const em_inst *last = &f->program->code[k->flow.first[b + 1] - 1];
        uint32_t reconverge = last->control == EM_BRANCH || last->control == EM_BRANCH_INDEX
                                  ? last->branch.reconverge
                                  : UINT32_MAX;
        f->blocks[b].reconverge = reconverge >= k->start && reconverge <= k->end
                                      ? k->flow.block_of[reconverge - k->start]
                                      : CUTE_NO_BLOCK;
    }
    for (size_t e = 0; e < g->edge_count; e++)
        for (uint32_t b = g->edges[e].to; b <= g->edges[e].from; b++) f->blocks[b].in_loop = true;
    return true;
}

bool ssa_from_ptx(cute_arena *arena, const em_program *program, const em_function *k, ssa_function *out)
{
    maker *m = cute_arena_alloc(arena, sizeof *m);
    *out = (ssa_function){
        .arena = arena, .name = k->name, .label = program->label, .program = program, .kernel = k};
    out->count = k->end >= k->start && k->end < program->count ? (size_t)k->end - k->start + 1 : 0;
    out->insts = cute_arena_array(arena, out->count + 1, sizeof *out->insts);
    out->variables = k->register_bytes / 64 + 64;
    if (!out->insts || !m) return false;
    *m = (maker){.arena = arena, .program = program, .kernel = k};
    uint32_t at = 0;
    int64_t line = 1;
    for (size_t n = 0; n < out->count; n++) {
        const em_inst *i = &program->code[k->start + n];
        if (!set_inst(m, i, &out->insts[n])) return false;
        if (i->where < at) at = 0, line = 1;
        for (; at < i->where && at < program->length; at++) line += program->text[at] == '\n';
        out->insts[n].ptx_line = line;
        ssa_inst *to = &out->insts[n];
        for (unsigned u = 0; u < to->use_count; u++)
            if (to->uses[u].kind == SSA_VAR && to->uses[u].var >= out->variables) to->uses[u].kind = SSA_NONE;
        for (unsigned d = 0; d < to->def_count; d++)
            if (to->defs[d] >= out->variables) to->defs[d] = 0;
        out->has_local |= to->space == CUTE_CODE_SPACE_LOCAL || to->flags & INST_ADDRESS_TAKEN;
    }
    return make_flow(out, program, k) && ssa_build(out) && find_reconvergence(out);
}
