/* The report of a product of several ranks: its schedule with estimates, and each rank's check and times. */
#include "lib/report/launch/ranks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text/json.h"

/* max(t_gemm, t_comm) / t_fused: 1 when the shorter of both is hidden entirely. */
static double efficiency(double product, double collective, double all)
{
    double most = product > collective ? product : collective;
    return all > 0 ? most / all : 0;
}

/* The slowest rank's time: all wait for it. */
static dist_times slowest(const dist_outcome *o, int size)
{
    dist_times t = {0};
    for (int i = 0; i < size; i++) {
        const dist_times *own = &o->records[i].times;
        if (own->product > t.product) t.product = own->product;
        if (own->collective > t.collective) t.collective = own->collective;
        if (own->sequence > t.sequence) t.sequence = own->sequence;
        if (own->all > t.all) t.all = own->all;
        if (own->cublas > t.cublas) t.cublas = own->cublas;
        if (own->peer > t.peer) t.peer = own->peer;
    }
    return t;
}

/* ---- JSON ---- */

static json_t *steps_json(const ranks_report *r)
{
    const dist_schedule *s = &r->choice->schedule;
    const dist_estimate *e = &r->choice->estimate;
    json_t *list = json_array();
    for (size_t i = 0; i < s->count; i++) {
        char text[96];
        dist_step_text(&s->steps[i], text, sizeof text);
        json_array_append_new(list, json_pack("{s:s,s:i,s:f,s:f,s:f}", "step", text, "stream",
                                              s->steps[i].stream, "bytes", e->step_bytes[i], "begins_s",
                                              e->begins[i], "seconds", e->seconds[i]));
    }
    return list;
}

static json_t *times_json(const dist_times *t)
{
    return json_pack("{s:f,s:f,s:f,s:f,s:f,s:f,s:f}", "product_s", t->product, "collective_s", t->collective,
                     "sequence_s", t->sequence, "all_s", t->all, "cublas_s", t->cublas, "peer_s", t->peer,
                     "efficiency", efficiency(t->product, t->collective, t->all));
}

static json_t *records_json(const dist_outcome *o, int size)
{
    json_t *list = json_array();
    for (int i = 0; i < size; i++) {
        const dist_result *c = &o->records[i].result;
        json_t *one = json_pack("{s:i,s:s,s:I,s:I,s:I,s:f}", "rank", i, "device", o->records[i].device,
                                "compared", (json_int_t)c->compared, "bad", (json_int_t)c->bad, "left_out",
                                (json_int_t)c->left_out, "max_error", c->max_error);
        if (c->bad)
            json_object_set_new(one, "first",
                                json_pack("{s:[II],s:f,s:f}", "index", (json_int_t)c->row,
                                          (json_int_t)c->column, "got", c->got, "expected", c->want));
        if (o->timed) json_object_set_new(one, "times", times_json(&o->records[i].times));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *trials_json(const ranks_report *r)
{
    const dist_outcome *o = r->outcome;
    dist_times t = slowest(o, r->problem->size);
    json_t *list = json_array();
    for (size_t i = 0; i < o->trial_count; i++) {
        const dist_trial *one = &o->trials[i];
        const dist_schedule *s = &one->choice.schedule;
        json_t *value =
            json_pack("{s:s,s:I,s:b,s:f,s:I,s:I}", "overlap", dist_overlap_name(s->overlap), "groups",
                      (json_int_t)s->groups, "puts", s->puts, "estimated_s", one->choice.estimate.total,
                      "compared", (json_int_t)one->result.compared, "bad", (json_int_t)one->result.bad);
        if (one->seconds > 0) {
            json_object_set_new(value, "all_s", json_real(one->seconds));
            json_object_set_new(value, "efficiency",
                                json_real(efficiency(t.product, t.collective, one->seconds)));
        }
        json_array_append_new(list, value);
    }
    return list;
}

static json_t *report_json(const ranks_report *r)
{
    const dist_problem *p = r->problem;
    const dist_choice *c = r->choice;
    const cute_gemm_problem *g = &p->read.given;
    json_t *out = json_pack("{s:I,s:I,s:I,s:s,s:s,s:i,s:s,s:s,s:s,s:I,s:b}", "m", (json_int_t)g->m, "n",
                            (json_int_t)g->n, "k", (json_int_t)g->k, "type", g->type_a, "type_d", g->type_d,
                            "ranks", p->size, "split", dist_split_name(p->split), "collective",
                            comm_kind_name(p->collective), "overlap", dist_overlap_name(c->schedule.overlap),
                            "groups", (json_int_t)c->schedule.groups, "puts", c->schedule.puts);
    json_object_set_new(out, "estimate",
                        json_pack("{s:f,s:f,s:f,s:f,s:f,s:f,s:s,s:s,s:i}", "product_s", c->sequence.product,
                                  "collective_s", c->sequence.collective, "sequence_s", c->sequence.total,
                                  "all_s", c->estimate.total, "bytes", c->estimate.bytes, "efficiency",
                                  efficiency(c->sequence.product, c->sequence.collective, c->estimate.total),
                                  "link", r->network->inside.name, "between", r->network->between.name,
                                  "node", r->network->node));
    json_object_set_new(out, "steps", steps_json(r));
    if (!r->outcome) return out;
    const dist_outcome *o = r->outcome;
    json_object_set_new(out, "provider", json_string(o->provider));
    json_object_set_new(out, "configuration", json_string(o->configuration));
    json_object_set_new(out, "launcher", json_string(r->launcher));
    json_object_set_new(out, "results", records_json(o, p->size));
    if (o->timed) {
        dist_times t = slowest(o, p->size);
        json_object_set_new(out, "times", times_json(&t));
    }
    if (o->trials) json_object_set_new(out, "schedules", trials_json(r));
    if (o->has_digest) {
        char digest[24];
        snprintf(digest, sizeof digest, "%016" PRIx64, o->digest);
        json_object_set_new(out, "digest", json_string(digest));
    }
    return out;
}

/* ---- text ---- */

static void put_shard(cute_buffer *out, const dist_problem *p)
{
    dist_shard s = dist_shard_of(p, 0);
    cute_buffer_printf(out, "rank 0: product %lldx%lldx%lld of %lldx%lldx%lld\n", (long long)s.m,
                       (long long)s.n, (long long)s.k, (long long)p->whole.m, (long long)p->whole.n,
                       (long long)p->whole.k);
}

static void put_estimate(cute_buffer *out, const ranks_report *r)
{
    const dist_choice *c = r->choice;
    const dist_estimate *e = &c->estimate, *q = &c->sequence;
    const dist_schedule *s = &c->schedule;
    const cute_model_network *n = r->network;
    double least = q->product > q->collective ? q->product : q->collective, hidden = q->total - e->total,
           most = q->total - least;
    cute_buffer_printf(out, "%-44s %6s %14s %12s %12s\n", "step", "stream", "bytes sent", "begins us",
                       "takes us");
    for (size_t i = 0; i < s->count; i++) {
        char text[96];
        if (s->steps[i].kind == DIST_RECORD || s->steps[i].kind == DIST_WAIT) continue;
        dist_step_text(&s->steps[i], text, sizeof text);
        cute_buffer_printf(out, "%-44s %6d %14.0f %12.1f %12.1f\n", text, s->steps[i].stream,
                           e->step_bytes[i], e->begins[i] * 1e6, e->seconds[i] * 1e6);
    }
    cute_buffer_printf(out, "links: %.0f GB/s (%s)", n->inside.peak * n->inside.fraction * 1e-9,
                       n->inside.name);
    if (r->problem->size > n->node)
        cute_buffer_printf(out, " within a node of %d, %.0f GB/s (%s) between nodes", n->node,
                           n->between.peak * n->between.fraction * 1e-9, n->between.name);
    cute_buffer_printf(out, "; %s, %lld multiprocessors\n", r->arch, (long long)r->multiprocessors);
    cute_buffer_printf(
        out,
        "estimated: product %.1f us, %s %.1f us, in sequence %.1f us; %s %.1f us: %.0f %% of the shorter "
        "hidden, efficiency %.2f\n",
        q->product * 1e6, comm_kind_name(r->problem->collective), q->collective * 1e6, q->total * 1e6,
        dist_overlap_name(s->overlap), e->total * 1e6, most > 0 && hidden > 0 ? 100 * hidden / most : 0,
        efficiency(q->product, q->collective, e->total));
}

static void put_times(cute_buffer *out, const dist_outcome *o, int size)
{
    dist_times t = slowest(o, size);
    if (t.all <= 0) return;
    cute_buffer_printf(
        out,
        "product %.1f us, collective %.1f us, in sequence %.1f us, overlapped %.1f us; efficiency %.2f\n",
        t.product * 1e6, t.collective * 1e6, t.sequence * 1e6, t.all * 1e6,
        efficiency(t.product, t.collective, t.all));
    if (t.cublas > 0)
        cute_buffer_printf(out, "cuBLASLt %.1f us, and the collective in sequence %.1f us: %.2f times ours\n",
                           t.cublas * 1e6, t.peer * 1e6, t.peer / t.all);
}

static void put_trials(cute_buffer *out, const ranks_report *r)
{
    const dist_outcome *o = r->outcome;
    dist_times t = slowest(o, r->problem->size);
    if (!o->trial_count) return;
    cute_buffer_printf(out, "%-10s %6s %12s %10s %12s%s\n", "schedule", "groups", "compared", "wrong",
                       "estimated us", o->timed ? "  measured us efficiency" : "");
    for (size_t i = 0; i < o->trial_count; i++) {
        const dist_trial *one = &o->trials[i];
        const dist_schedule *s = &one->choice.schedule;
        cute_buffer_printf(out, "%-10s %6lld %12lld %10lld %12.1f", dist_overlap_name(s->overlap),
                           (long long)s->groups, (long long)one->result.compared, (long long)one->result.bad,
                           one->choice.estimate.total * 1e6);
        if (one->seconds > 0)
            cute_buffer_printf(out, " %12.1f %10.2f", one->seconds * 1e6,
                               efficiency(t.product, t.collective, one->seconds));
        cute_buffer_puts(out, "\n");
    }
}

static void put_outcome(cute_buffer *out, const ranks_report *r)
{
    const dist_outcome *o = r->outcome;
    int size = r->problem->size;
    cute_buffer_printf(out, "ranks: %d, started by %s; collectives by %s\n", size, r->launcher, o->provider);
    if (*o->configuration) cute_buffer_printf(out, "configuration of rank 0: %s\n", o->configuration);
    for (int i = 0; i < size; i++) {
        const dist_result *c = &o->records[i].result;
        cute_buffer_printf(out, "rank %d: %s", i, o->records[i].device);
        if (c->bad)
            cute_buffer_printf(out,
                               "; %lld of %lld elements wrong, the first at [%lld,%lld]: expected %g, got %g",
                               (long long)c->bad, (long long)c->compared, (long long)c->row,
                               (long long)c->column, c->want, c->got);
        else if (c->compared)
            cute_buffer_printf(out, "; %lld elements compared, greatest error %.3g", (long long)c->compared,
                               c->max_error);
        if (c->left_out)
            cute_buffer_printf(out, "; %lld left out, within rounding of a threshold",
                               (long long)c->left_out);
        cute_buffer_puts(out, "\n");
    }
    put_trials(out, r);
    if (o->has_digest && o->differs >= 0)
        cute_buffer_printf(out, "D of rank %d differs from that of rank 0\n", o->differs);
    if (o->timed) put_times(out, o, size);
}

char *cute_ranks_report(const ranks_report *r, bool json)
{
    cute_buffer out = {0};
    const cute_gemm_problem *g = &r->problem->read.given;
    json_t *value = json ? json_pack("{s:o}", "ranks", report_json(r)) : NULL;
    if (!json) {
        cute_buffer_printf(&out, "gemm %lldx%lldx%lld on %d ranks, split along %s, %s: %s to %s\n",
                           (long long)g->m, (long long)g->n, (long long)g->k, r->problem->size,
                           dist_split_name(r->problem->split), comm_kind_name(r->problem->collective),
                           g->type_a, g->type_d);
        put_shard(&out, r->problem);
        if (r->outcome)
            put_outcome(&out, r);
        else
            put_estimate(&out, r);
    }
    return cute_json_finish(value, json, &out);
}
