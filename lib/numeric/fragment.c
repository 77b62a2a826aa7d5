/* The layouts of fragments as formulas: which lane and register of a warp holds which element of a matrix. */
#include "lib/numeric/fragment.h"

int num_fragment_registers(int count, ptx_type type)
{
    int bits = ptx_types[type].bits;
    return bits == 64 ? count / 32 : count * bits / 1024;
}

int num_fragment_elements(num_operand operand, int m, int n, int k)
{
    return operand == NUM_A ? m * k : operand == NUM_B ? k * n : m * n;
}

/* Fragments consist of 8-row pieces in which lane 4 * g + t holds row g (of B: column g) and `per` neighbours
 * of k from per * t on; of C, columns 2 * t and 2 * t + 1 (9.7.14.5.1 to 12). Pieces are ordered down, then
 * across. */
num_place num_shape_place(num_operand operand, int m, int k, ptx_type type, int lane, int reg, int index)
{
    int g = lane >> 2, t = lane & 3, bits = ptx_types[type].bits, per = bits >= 32 ? 1 : 32 / bits;
    if (operand == NUM_A) {
        int tiles = m / 8;
        return (num_place){.row = g + 8 * (reg % tiles), .column = 4 * per * (reg / tiles) + t * per + index};
    }
    if (operand == NUM_B) {
        int tiles = k / (4 * per);
        return (num_place){.row = 4 * per * (reg % tiles) + t * per + index, .column = g + 8 * (reg / tiles)};
    }
    int tiles = m / 8, piece = per == 1 ? reg / 2 : reg, side = per == 1 ? reg % 2 : index;
    return (num_place){.row = g + 8 * (piece % tiles), .column = 8 * (piece / tiles) + 2 * t + side};
}

/* mma.m8n8k4 of f16 (9.7.14.5.1): lanes 4p to 4p + 3 and the same plus 16 compute product p. */
static num_place quad_place(num_operand operand, ptx_type type, bool other_major, int lane, int reg,
                            int index)
{
    int part = lane % 16 / 4, upper = lane < 16 ? 0 : 4, four = lane % 4, i = 2 * reg + index;
    if (operand == NUM_A) {
        if (other_major) return (num_place){i % 4 + upper, four, part};
        return (num_place){four + upper, i, part};
    }
    if (operand == NUM_B) {
        if (other_major) return (num_place){four, i + upper, part};
        return (num_place){i, four + upper, part};
    }
    if (type == PTX_f16) return (num_place){four + upper, i, part};
    return (num_place){(lane & 1) + (reg & 2) + upper, (reg & 4) + (lane & 2) + (reg & 1), part};
}

static ptx_type operand_type(const num_mma *mma, num_operand operand)
{
    return (ptx_type)(operand == NUM_A ? mma->a : operand == NUM_B ? mma->b : mma->c);
}

num_place num_fragment_place(const num_mma *mma, num_operand operand, ptx_type type,
                             const num_mma_options *options, int lane, int reg, int index)
{
    if (num_is_quad(mma)) {
        bool other = operand == NUM_A ? options && options->a_col : options && options->b_row;
        return quad_place(operand, type, other, lane, reg, index);
    }
    int needed = num_fragment_registers(num_fragment_elements(operand, mma->m, mma->n, mma->k), type);
    return num_shape_place(operand, mma->m, mma->k, type, lane, reg % needed, index);
}

num_place num_mma_place(const num_mma *mma, num_operand operand, const num_mma_options *options, int lane,
                        int reg, int index)
{
    return num_fragment_place(mma, operand, operand_type(mma, operand), options, lane, reg, index);
}
