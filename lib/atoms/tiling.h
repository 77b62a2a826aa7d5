/* Tiled copies and MMAs as functions of layouts: the formulas of CuTe C++'s copy_atom.hpp and mma_atom.hpp.
 * As in lib/layout/layouts.h, a layout with NULL parts represents a failure. */
#ifndef CUTE_LIB_ATOMS_TILING_H
#define CUTE_LIB_ATOMS_TILING_H

#include "lib/atoms/atoms.h"
#include "lib/layout/layouts.h"

/* A partition of a layout (M,N,...) among threads: `threads` are its first modes, followed by those of values
 * and of the modes beyond the tile (the rest). */
typedef struct atom_partition {
    cute_layout layout;
    size_t threads;
} atom_partition;

/* tidfrg_S, tidfrg_D: (Thr,(FrgV,FrgX),RestM,RestN,...); `which` is CUTE_ATOM_SOURCE or _DESTINATION. */
atom_partition atom_copy_partition(cute_algebra *a, const cute_value *copy, int which, cute_layout layout);
/* retile: ((FrgV,FrgX),RestM,RestN,...) of a fragment (V,M,N,...). */
cute_layout atom_copy_retile(cute_algebra *a, const cute_value *copy, cute_layout fragment);
/* thrfrg_A, _B, _C: (ThrV,ThrM,ThrN,FrgV,RestM,RestN,...); `which` is CUTE_ATOM_A, _B or _C. */
atom_partition atom_mma_partition(cute_algebra *a, const cute_value *mma, int which, cute_layout layout);
/* The coordinate (V,M,N,K) of a thread in the modes of atom_mma_partition. */
bool atom_mma_coordinate(cute_algebra *a, const cute_value *mma, int which, cute_node thread,
                         cute_node out[3]);

/* The thread-value layouts of the whole tile: get_layoutS_TV, _D_TV of a copy, get_layoutA_TV, _B_TV, _C_TV
 * of an MMA. */
cute_layout atom_copy_layout(cute_algebra *a, const cute_value *copy, int which);
cute_layout atom_mma_layout(cute_algebra *a, const cute_value *mma, int which);
/* tile_size_mnk<mode> of an MMA: M, N, K. */
cute_node atom_mma_tile(cute_algebra *a, const cute_value *mma, int mode);

#endif
