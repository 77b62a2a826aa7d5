/* Pipes and operations of instructions: a table by opcode, scaled by type. */
#include "lib/emulator/machine/work.h"

#include "lib/numeric/mma.h"
#include "lib/numeric/wgmma.h"

const char *const em_work_names[EM_WORKS] = {
#define WORK(id, name) [EM_WORK_##id] = name,
#include "lib/emulator/machine/work.def"
};

/* Properties of an arithmetic opcode. Integer slots are for 32 bits; `wide`: for 64 bits. */
typedef struct pipe_row {
    uint8_t operations; /* floating-point operations */
    uint8_t slots, wide;
    uint8_t
        rounded;  /* extra slots of correctly rounded floating point, which is a sequence of instructions */
    bool special; /* floating point uses the special function unit */
    bool bits_special; /* integers do */
    bool compares;     /* f32 and f16 use the integer pipe */
} pipe_row;

static const pipe_row pipes[EM_OPCODES] = {
    [EM_OP_add] = {.operations = 1, .slots = 1, .wide = 2},
    [EM_OP_sub] = {.operations = 1, .slots = 1, .wide = 2},
    [EM_OP_mul] = {.operations = 1, .slots = 1, .wide = 4},
    [EM_OP_mad] = {.operations = 2, .slots = 1, .wide = 4},
    [EM_OP_fma] = {.operations = 2, .slots = 1, .wide = 1},
    [EM_OP_addc] = {.slots = 1, .wide = 2},
    [EM_OP_subc] = {.slots = 1, .wide = 2},
    [EM_OP_madc] = {.slots = 1, .wide = 4},
    [EM_OP_mul24] = {.slots = 1, .wide = 1},
    [EM_OP_mad24] = {.slots = 1, .wide = 1},
    [EM_OP_sad] = {.slots = 2, .wide = 4},
    [EM_OP_div] = {.operations = 1, .slots = 20, .wide = 80, .rounded = 8, .special = true},
    [EM_OP_rem] = {.slots = 22, .wide = 84},
    [EM_OP_min] = {.slots = 1, .wide = 3, .compares = true},
    [EM_OP_max] = {.slots = 1, .wide = 3, .compares = true},
    [EM_OP_rcp] = {.operations = 1, .rounded = 4, .special = true},
    [EM_OP_sqrt] = {.operations = 1, .rounded = 5, .special = true},
    [EM_OP_rsqrt] = {.operations = 1, .rounded = 4, .special = true},
    [EM_OP_ex2] = {.operations = 1, .special = true},
    [EM_OP_lg2] = {.operations = 1, .special = true},
    [EM_OP_sin] = {.operations = 1, .special = true},
    [EM_OP_cos] = {.operations = 1, .special = true},
    [EM_OP_tanh] = {.operations = 1, .special = true},
    [EM_OP_copysign] = {.slots = 1, .wide = 1, .compares = true},
    [EM_OP_testp] = {.slots = 1, .wide = 1, .compares = true},
    [EM_OP_and] = {.slots = 1, .wide = 2},
    [EM_OP_or] = {.slots = 1, .wide = 2},
    [EM_OP_xor] = {.slots = 1, .wide = 2},
    [EM_OP_not] = {.slots = 1, .wide = 2},
    [EM_OP_cnot] = {.slots = 2, .wide = 3},
    [EM_OP_shl] = {.slots = 1, .wide = 2},
    [EM_OP_shr] = {.slots = 1, .wide = 2},
    [EM_OP_shf] = {.slots = 1, .wide = 1},
    [EM_OP_bfe] = {.slots = 2, .wide = 4},
    [EM_OP_bfi] = {.slots = 2, .wide = 4},
    [EM_OP_bfind] = {.slots = 1, .wide = 2, .bits_special = true},
    [EM_OP_brev] = {.slots = 1, .wide = 2, .bits_special = true},
    [EM_OP_clz] = {.slots = 1, .wide = 2, .bits_special = true},
    [EM_OP_popc] = {.slots = 1, .wide = 2, .bits_special = true},
    [EM_OP_lop3] = {.slots = 1, .wide = 2},
    [EM_OP_prmt] = {.slots = 1, .wide = 1},
    [EM_OP_dp4a] = {.slots = 1, .wide = 1},
    [EM_OP_dp2a] = {.slots = 1, .wide = 1},
    [EM_OP_szext] = {.slots = 1, .wide = 1},
    [EM_OP_bmsk] = {.slots = 1, .wide = 1},
    [EM_OP_setp] = {.slots = 1, .wide = 2, .compares = true},
    [EM_OP_set] = {.slots = 1, .wide = 2, .compares = true},
    [EM_OP_selp] = {.slots = 1, .wide = 2, .compares = true},
    [EM_OP_slct] = {.slots = 2, .wide = 3, .compares = true},
};

static int tensor_work(em_work *out, ptx_type a, int m, int n, int k)
{
    static const uint8_t kinds[PTX_TYPES] = {
        [PTX_f64] = EM_WORK_TENSOR_F64,   [PTX_tf32] = EM_WORK_TENSOR_TF32, [PTX_f16] = EM_WORK_TENSOR_F16,
        [PTX_bf16] = EM_WORK_TENSOR_BF16, [PTX_e4m3] = EM_WORK_TENSOR_F8,   [PTX_e5m2] = EM_WORK_TENSOR_F8,
        [PTX_s8] = EM_WORK_TENSOR_I8,     [PTX_u8] = EM_WORK_TENSOR_I8,     [PTX_s4] = EM_WORK_TENSOR_I4,
        [PTX_u4] = EM_WORK_TENSOR_I4,     [PTX_b1] = EM_WORK_TENSOR_B1};
    if (!kinds[a]) return 0;
    *out = (em_work){.kind = (em_work_kind)kinds[a], .operations = 2u * (uint32_t)(m * n * k)};
    return 1;
}

static em_work_kind pipe_of(const ptx_type_info *t)
{
    return t->format == NUM_F64 ? EM_WORK_FP64 : t->format == NUM_F32 ? EM_WORK_FP32 : EM_WORK_FP16;
}

static int floating_work(const em_inst *i, const pipe_row *row, const ptx_type_info *t, em_work *out)
{
    bool wide = t->format == NUM_F64;
    uint32_t values = t->count,
             halves = t->format == NUM_F32 ? values : 1; /* f16 instructions process pairs */
    if (row->compares && !wide) {
        out[0] = (em_work){EM_WORK_INTEGER, row->slots, 0};
        return 1;
    }
    if (!row->special) {
        out[0] = (em_work){pipe_of(t), halves, row->operations * values};
        return 1;
    }
    /* A quotient costs at least a reciprocal and a product; a rounded one is a sequence. */
    bool rough = em_has(i, EM_M_approx) || em_has(i, EM_M_full);
    uint32_t more = rough ? i->opcode == EM_OP_div : row->rounded;
    out[0] = (em_work){EM_WORK_SPECIAL, values, row->operations * values};
    out[1] = (em_work){pipe_of(t), more * halves, 0};
    return more ? 2 : 1;
}

static bool is_real(uint8_t type)
{
    return ptx_types[type].kind == PTX_FLOAT;
}

static int conversion_work(const em_inst *i, em_work *out)
{
    const ptx_type_info *to = &ptx_types[i->types[0]], *from = &ptx_types[i->types[1]];
    if (i->type_count < 2 || (!is_real(i->types[0]) && !is_real(i->types[1])))
        return 0; /* usually no machine code */
    bool wide = to->bits == 64 || from->bits == 64;
    out[0] = (em_work){wide ? EM_WORK_SPECIAL : EM_WORK_INTEGER, 1, 0};
    return 1;
}

/* Whether the load/store unit executes the instruction: not bulk copies, parameters and constants. */
static bool asks_memory(const em_inst *i)
{
    switch (i->class) {
    case EM_CLASS_MEMORY_GLOBAL:
    case EM_CLASS_MEMORY_SHARED:
    case EM_CLASS_MEMORY_LOCAL:
    case EM_CLASS_MEMORY_GENERIC: return true;
    case EM_CLASS_WARP: return i->opcode == EM_OP_shfl;
    case EM_CLASS_COPY: return i->opcode == EM_OP_cp && !em_has(i, EM_M_bulk);
    default: return false;
    }
}

int em_work_of(const em_inst *i, em_work out[EM_WORK_MOST])
{
    const pipe_row *row = &pipes[i->opcode];
    if (i->opcode == EM_OP_wgmma)
        return i->class == EM_CLASS_TENSOR
                   ? tensor_work(out, (ptx_type)i->wgmma->a, 16, i->wgmma->n, i->wgmma->k)
                   : 0;
    if (i->class == EM_CLASS_TENSOR)
        return tensor_work(out, (ptx_type)i->mma.form->a, i->mma.form->m, i->mma.form->n, i->mma.form->k);
    if (asks_memory(i)) {
        out[0] = (em_work){EM_WORK_MEMORY, 1, 0};
        return 1;
    }
    if (i->opcode == EM_OP_cvt) return conversion_work(i, out);
    if (!row->slots && !row->special) return 0;
    const ptx_type_info *t = &ptx_types[i->type_count ? i->type : PTX_b32];
    if (i->class == EM_CLASS_FLOAT || (row->compares && t->kind == PTX_FLOAT))
        return floating_work(i, row, t, out);
    uint32_t slots = t->bits == 64 ? row->wide : row->slots;
    if (em_has(i, EM_M_wide) && t->bits == 32) slots = row->slots;
    out[0] = (em_work){row->bits_special ? EM_WORK_SPECIAL : EM_WORK_INTEGER, slots, 0};
    return 1;
}

bool em_work_issues(const em_inst *i)
{
    em_work unused[EM_WORK_MOST];
    switch (i->class) {
    case EM_CLASS_MOVE: return em_work_of(i, unused) > 0;
    case EM_CLASS_CONVERSION: return em_work_of(i, unused) > 0;
    case EM_CLASS_MEMORY_CONSTANT: return false;
    default: return i->opcode != EM_OP_cvta;
    }
}
