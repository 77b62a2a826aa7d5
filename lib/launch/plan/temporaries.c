/* Temporaries of launch plans: device memory that host functions need beside their arguments. A sequence may run a function
 * several times; nothing is kept between runs, so that these can share memory. Named temporaries of launch.json keep what one
 * plan writes for the next. */
#include "lib/base/list.h"
#include "lib/base/numbers/checked.h"
#include "lib/launch/plan/plan.h"

/* Takes memory whose name is `name`. */
static cute_status add_temporary(cute_plan *plan, host_temporary memory, const char *name, cute_diag *diag)
{
    if (!name || !cute_arena_more(plan->config->arena, &plan->temporaries, plan->temporary_count,
                                  &plan->temporary_capacity, sizeof *plan->temporaries, 8))
        return cute_fail_memory(diag);
    plan->temporaries[plan->temporary_count++] = (plan_temporary){memory, name, plan->run_count};
    return CUTE_OK;
}

cute_status cute_plan_add_named(cute_plan *plan, cute_diag *diag)
{
    for (size_t i = 0; i < plan->config->temporary_count; i++) {
        const config_temporary *t = &plan->config->temporaries[i];
        host_temporary memory = {.bytes = t->bytes, .align = HOST_TEMPORARY_ALIGN, .init = -1};
        CUTE_TRY(add_temporary(plan, memory,
                               cute_arena_printf(plan->config->arena, "temporary '%s'", t->name), diag));
    }
    return CUTE_OK;
}

cute_status cute_plan_begin_run(cute_plan *plan, const config_plan *source, plan_step *first, cute_diag *diag)
{
    const host_run *run = &source->run;
    plan->first_temporary = plan->temporary_count;
    plan->run_count++;
    for (size_t i = 0; i < run->temporary_count; i++) {
        const char *name =
            cute_arena_printf(plan->config->arena, "temporary %zu of plan '%s'", i, source->host.name);
        CUTE_TRY(add_temporary(plan, run->temporaries[i], name, diag));
    }
    first->first_fill = plan->first_temporary;
    first->fill_count = run->temporary_count;
    return CUTE_OK;
}

bool cute_plan_place_temporaries(const cute_plan *plan, int64_t *offsets, int64_t *bytes)
{
    int64_t end = 0, named = 0;
    *bytes = 0;
    for (size_t i = 0; i < plan->temporary_count; i++) {
        const plan_temporary *t = &plan->temporaries[i];
        int64_t units;
        if (i && t->run != t[-1].run && plan->main.streams <= 1) end = named;
        offsets[i] = end;
        if (!cute_ceil_div64(t->memory.bytes, HOST_TEMPORARY_ALIGN, &units) ||
            !cute_mul64(units, HOST_TEMPORARY_ALIGN, &units) || !cute_add64(end, units, &end))
            return false;
        if (!t->run) named = end;
        if (end > *bytes) *bytes = end;
    }
    return true;
}
