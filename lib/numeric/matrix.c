/* ldmatrix, stmatrix, movmatrix. */
#include <string.h>

#include "lib/numeric/matrix.h"

enum { LANES = 32 };

/* The lane of element `column` of row `row` of an 8x8 fragment; column % 2 selects the half of its word. */
static int lane_of_element(int row, int column)
{
    return 4 * row + column / 2;
}

void num_ldmatrix(int count, bool transposed, const void *const rows[32], uint32_t *const d[4])
{
    uint16_t tile[8][8];
    for (int m = 0; m < count; m++) {
        /* A row of 8 elements is one word in each of four lanes. */
        for (int r = 0; !transposed && r < 8; r++) memcpy(d[m] + 4 * r, rows[8 * m + r], sizeof tile[r]);
        if (!transposed) continue;
        for (int r = 0; r < 8; r++) memcpy(tile[r], rows[8 * m + r], sizeof tile[r]);
        for (int lane = 0; lane < LANES; lane++) {
            int r = lane / 4, c = lane % 4 * 2;
            d[m][lane] = (uint32_t)tile[c + 1][r] << 16 | tile[c][r];
        }
    }
}

void num_stmatrix(int count, bool transposed, void *const rows[32], const uint32_t *const a[4])
{
    for (int m = 0; m < count; m++)
        for (int r = 0; r < 8; r++) {
            uint16_t row[8];
            if (!transposed) memcpy(row, a[m] + 4 * r, sizeof row);
            for (int c = 0; transposed && c < 8; c++)
                row[c] = (uint16_t)(a[m][lane_of_element(c, r)] >> (r % 2 * 16));
            memcpy(rows[8 * m + r], row, sizeof row);
        }
}

void num_movmatrix(uint32_t *d, const uint32_t *a)
{
    uint32_t source[LANES];
    memcpy(source, a, sizeof source);
    for (int lane = 0; lane < LANES; lane++) {
        int r = lane / 4, c = lane % 4 * 2;
        uint32_t low = source[lane_of_element(c, r)] >> (r % 2 * 16) & 0xffff;
        uint32_t high = source[lane_of_element(c + 1, r)] >> (r % 2 * 16) & 0xffff;
        d[lane] = high << 16 | low;
    }
}
