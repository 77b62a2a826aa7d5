/* Steps of launch.json with a collective operation between ranks: {"collective": "all_reduce", "from": RANGE, "to": RANGE, "peer": N}. */
#include <string.h>

#include "lib/base/numbers/checked.h"
#include "lib/launch/config/config.h"
#include "lib/ranks/comm.h"

#define FAIL(config, path, diag, ...) cute_document_fail(&(config)->document, path, false, diag, __VA_ARGS__)

/* Which keys an operation has: `from`, `to`, and whether the elements of one are those of all ranks. */
typedef enum span { NONE, ONE, ALL } span;
static const struct {
    span from, to;
    bool peer, other; /* other: the peer is not this rank itself */
} shapes[COMM_KINDS] = {
    [COMM_ALL_REDUCE] = {ONE, ONE, false, false}, [COMM_REDUCE_SCATTER] = {ALL, ONE, false, false},
    [COMM_ALL_GATHER] = {ONE, ALL, false, false}, [COMM_BROADCAST] = {ONE, ONE, true, false},
    [COMM_REDUCE] = {ONE, ONE, true, false},      [COMM_SEND] = {ONE, NONE, true, true},
    [COMM_RECV] = {NONE, ONE, true, true},        [COMM_PUT] = {ONE, ONE, true, false},
    [COMM_WAIT] = {NONE, NONE, true, false},
};

static cute_status check_key(const cute_config *config, const json_t *json, const cute_path *path,
                             const char *key, bool wanted, const char *operation, cute_diag *diag)
{
    bool given = json_object_get(json, key) != NULL;
    if (given == wanted) return CUTE_OK;
    if (given)
        return cute_document_fail(&config->document, config_member(config, path, key), true, diag,
                                  "unexpected key '%s' in the collective %s", key, operation);
    return FAIL(config, path, diag, "missing key '%s' of the collective %s", key, operation);
}

static cute_status read_peer(const cute_config *config, const json_t *json, const cute_path *path, bool other,
                             host_step *out, cute_diag *diag)
{
    int64_t peer;
    path = config_member(config, path, "peer");
    CUTE_TRY(config_integer(config, json_object_get(json, "peer"), path, &peer, diag));
    if (peer < 0 || peer >= config->job_size)
        return FAIL(config, path, diag, "expected a rank from 0 to %d, got %lld", config->job_size - 1,
                    (long long)peer);
    if (other && peer == config->job_rank)
        return FAIL(config, path, diag, "expected another rank than this one, got %lld", (long long)peer);
    out->peer = (int)peer;
    return CUTE_OK;
}

static cute_status check_extents(const cute_config *config, const cute_path *path, const char *operation,
                                 const cute_tensor *from, span from_span, const cute_tensor *to, span to_span,
                                 cute_diag *diag)
{
    int64_t ranks = config->job_size, expected = from->count;
    if (from->dtype != to->dtype)
        return FAIL(config, path, diag, "expected elements of one type, got '%s' of %s and '%s' of %s",
                    from->name, cute_dtype_get(from->dtype)->name, to->name, cute_dtype_get(to->dtype)->name);
    if (from_span == ALL && from->count % ranks != 0)
        return FAIL(config, path, diag,
                    "%s on %lld ranks: expected a multiple of %lld elements in 'from', got %lld", operation,
                    (long long)ranks, (long long)ranks, (long long)from->count);
    if (from_span == ALL) expected = from->count / ranks;
    if (to_span == ALL && !cute_mul64(from->count, ranks, &expected)) expected = INT64_MAX;
    if (to->count == expected) return CUTE_OK;
    return FAIL(config, path, diag,
                "%s of %lld elements on %lld ranks: expected %lld elements in 'to', got %lld", operation,
                (long long)from->count, (long long)ranks, (long long)expected, (long long)to->count);
}

cute_status config_read_collective(const cute_config *config, const json_t *json, const cute_path *path,
                                   host_step *out, cute_diag *diag)
{
    cute_tensor from = {0}, to = {0};
    const char *name = json_string_value(json_object_get(json, "collective"));
    comm_kind kind;
    if (!comm_kind_find(name, &kind))
        return FAIL(config, config_member(config, path, "collective"), diag, "unknown collective '%s'", name);
    bool reads = shapes[kind].from != NONE, writes = shapes[kind].to != NONE, signals = kind == COMM_WAIT;
    int64_t count = 1;
    *out = (host_step){.kind = HOST_COLLECTIVE, .stream = out->stream, .call = kind, .signals = 1};
    CUTE_TRY(check_key(config, json, path, "from", reads, name, diag));
    CUTE_TRY(check_key(config, json, path, "to", writes, name, diag));
    CUTE_TRY(check_key(config, json, path, "peer", shapes[kind].peer, name, diag));
    if (!signals) CUTE_TRY(check_key(config, json, path, "signals", false, name, diag));
    if (reads)
        CUTE_TRY(config_read_range(config, json_object_get(json, "from"), config_member(config, path, "from"),
                                   &from, &out->from, diag));
    if (writes)
        CUTE_TRY(config_read_range(config, json_object_get(json, "to"), config_member(config, path, "to"),
                                   &to, &out->to, diag));
    if (shapes[kind].peer) CUTE_TRY(read_peer(config, json, path, shapes[kind].other, out, diag));
    if (signals && json_object_get(json, "signals"))
        CUTE_TRY(config_integer(config, json_object_get(json, "signals"),
                                config_member(config, path, "signals"), &count, diag));
    if (signals && (count < 1 || count > INT32_MAX))
        return FAIL(config, config_member(config, path, "signals"), diag,
                    "expected 1 or more signals, got %lld", (long long)count);
    out->signals = count;
    if (reads && writes)
        CUTE_TRY(check_extents(config, path, name, &from, shapes[kind].from, &to, shapes[kind].to, diag));
    const cute_tensor *one = shapes[kind].from == ONE ? &from : &to;
    if (!reads && !writes) return CUTE_OK;
    out->dtype = (int)one->dtype;
    out->count = one->count;
    out->from_size = from.count * cute_dtype_get(one->dtype)->bytes;
    out->bytes = to.count * cute_dtype_get(one->dtype)->bytes;
    if (!comm_type_find(cute_dtype_get(one->dtype)->name))
        return FAIL(config, path, diag, "collectives do not support elements of %s",
                    cute_dtype_get(one->dtype)->name);
    if (kind == COMM_PUT) config->buffers[out->to.base].window = true;
    return CUTE_OK;
}
