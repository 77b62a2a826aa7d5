/* Links between GPUs, and the time of collective operations. */
#include "lib/model/links.h"

#include <stdlib.h>
#include <string.h>

static const cute_model_link links[] = {
#define LINK(name, peak, fraction, launch, hop, text)                                                        \
    {name, peak * 1e9, fraction, launch * 1e-6, hop * 1e-6, text},
#include "lib/model/links.def"
#undef LINK
};

const cute_model_link *cute_model_link_at(size_t index)
{
    return index < sizeof links / sizeof *links ? &links[index] : NULL;
}

bool cute_model_link_find(const char *name, cute_model_link *out)
{
    char *end;
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (strcmp(links[i].name, name) == 0) {
            *out = links[i];
            return true;
        }
    double rate = strtod(name, &end);
    if (end == name || *end || !(rate > 0) || rate > 1e6) return false;
    *out = (cute_model_link){"stated", rate * 1e9, 1, 6e-6, 0.8e-6, "stated"};
    return true;
}

void cute_model_links_of(int arch, cute_model_link *inside, cute_model_link *between)
{
    cute_model_link_find(arch >= 100 && arch < 120 ? "nvlink5"
                         : arch == 90              ? "nvlink4"
                         : arch == 80              ? "nvlink3"
                                                   : "pcie4",
                         inside);
    cute_model_link_find("ib400", between);
}

/* A ring sends all parts but one; an all-reduce does so twice, for sums and for results. A broadcast's parts follow each other. */
double cute_model_exchange_bytes(cute_model_exchange exchange, int ranks, double bytes)
{
    double others = ranks - 1;
    if (ranks < 2) return 0;
    return exchange == CUTE_MODEL_ALL_GATHER   ? others * bytes
           : exchange == CUTE_MODEL_ALL_REDUCE ? 2 * others / ranks * bytes
                                               : bytes;
}

/* Rings go through the adapters of all GPUs of a node, each with its part of the data; one rank's sends use one adapter. */
double cute_model_exchange_seconds(const cute_model_network *n, cute_model_exchange exchange, int ranks,
                                   double bytes)
{
    const cute_model_link *in = &n->inside, *out = &n->between;
    int nodes = (ranks + n->node - 1) / n->node;
    bool leaves = nodes > 1, ring = exchange != CUTE_MODEL_SEND;
    double hops = !ring ? 1 : exchange == CUTE_MODEL_ALL_REDUCE ? 2 * (ranks - 1) : ranks - 1;
    if (ranks < 2) return 0;
    double between = !leaves ? 0 : ring ? hops * (nodes - 1) / (ranks - 1) : 1;
    double rate = in->peak * in->fraction, adapters = out->peak * out->fraction * (ring ? n->node : 1);
    if (leaves && adapters < rate) rate = adapters;
    return (leaves ? out->launch : in->launch) + (hops - between) * in->hop + between * out->hop +
           cute_model_exchange_bytes(exchange, ranks, bytes) / rate;
}
