/* Loops of executors over lanes: one that the compiler vectorises if all are active, and one for the
 * others. */
#ifndef CUTE_LIB_EMULATOR_INSTRUCTIONS_LANES_H
#define CUTE_LIB_EMULATOR_INSTRUCTIONS_LANES_H

#define EM_EACH(mask, statement)                                                                             \
    do {                                                                                                     \
        if ((mask) == UINT32_MAX) {                                                                          \
            for (int l = 0; l < EM_LANES; l++) {                                                             \
                statement;                                                                                   \
            }                                                                                                \
        } else {                                                                                             \
            for (uint32_t rest_ = (mask); rest_; rest_ &= rest_ - 1) {                                       \
                int l = __builtin_ctz(rest_);                                                                \
                statement;                                                                                   \
            }                                                                                                \
        }                                                                                                    \
    } while (0)

/* d = f(a, b, c) by i->lane, lane by lane: for infrequent instructions. */
void em_run_lanes(em_warp *w, const em_inst *i, uint32_t mask);

#endif
