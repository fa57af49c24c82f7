#include "CMigrations.h"

static const unsigned char m0001[] = {
#embed "../../migrations/0001_ledger.sql"
};

static const cmigration all[] = {
    {"0001_ledger", m0001, sizeof m0001},
};

const cmigration *cmigration_at(size_t i) { return i < sizeof all / sizeof *all ? &all[i] : 0; }
