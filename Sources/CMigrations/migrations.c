#include "CMigrations.h"

// Clang supports #embed in every C standard, and only warns.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char m0001[] = {
#embed "../../migrations/0001_tables.sql"
};
static const unsigned char m0002[] = {
#embed "../../migrations/0002_rules.sql"
};
static const unsigned char m0003[] = {
#embed "../../migrations/0003_views.sql"
};
static const unsigned char m0004[] = {
#embed "../../migrations/0004_errors.sql"
};

// In order; the position, counted from 1, is the schema version. A test compares the list with the folder.
static const cmigration all[] = {
    {"0001_tables", m0001, sizeof m0001},
    {"0002_rules", m0002, sizeof m0002},
    {"0003_views", m0003, sizeof m0003},
    {"0004_errors", m0004, sizeof m0004},
};

const cmigration *cmigration_at(size_t i) { return i < sizeof all / sizeof *all ? &all[i] : 0; }
