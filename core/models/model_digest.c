#include "core/models/model_digest.h"

#include <string.h>

#include "core/models/family.h"

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

uint64_t model_digest(const Model *m)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *p = m->family ? m->family->name : ""; *p; p++)
        hash = mix(hash, (unsigned char)*p);
    hash = mix(hash, m->family ? m->family->params(m) : 0);
    for (size_t i = 0; m->block && i < m->block_cells; i++) {
        uint32_t bits;
        memcpy(&bits, &m->block[i], sizeof bits);
        hash = mix(hash, bits);
    }
    return hash;
}
