#include "CMigrations.h"

// Clang knows #embed in every C standard, and only says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char m0001[] = {
#embed "../../migrations/0001_ledger.sql"
};
static const unsigned char m0002[] = {
#embed "../../migrations/0002_rules.sql"
};
static const unsigned char m0003[] = {
#embed "../../migrations/0003_errors.sql"
};
static const unsigned char m0004[] = {
#embed "../../migrations/0004_views.sql"
};
static const unsigned char m0005[] = {
#embed "../../migrations/0005_control.sql"
};
static const unsigned char m0006[] = {
#embed "../../migrations/0006_reading.sql"
};
static const unsigned char m0007[] = {
#embed "../../migrations/0007_hidden.sql"
};
static const unsigned char m0008[] = {
#embed "../../migrations/0008_protocols.sql"
};
static const unsigned char m0009[] = {
#embed "../../migrations/0009_staging.sql"
};
static const unsigned char m0010[] = {
#embed "../../migrations/0010_claims.sql"
};
static const unsigned char m0011[] = {
#embed "../../migrations/0011_aborts.sql"
};
static const unsigned char m0012[] = {
#embed "../../migrations/0012_replies.sql"
};
static const unsigned char m0013[] = {
#embed "../../migrations/0013_single_rows.sql"
};
static const unsigned char m0014[] = {
#embed "../../migrations/0014_standing.sql"
};
static const unsigned char m0015[] = {
#embed "../../migrations/0015_flat.sql"
};
static const unsigned char m0016[] = {
#embed "../../migrations/0016_opened_by.sql"
};
static const unsigned char m0017[] = {
#embed "../../migrations/0017_hosts.sql"
};
static const unsigned char m0018[] = {
#embed "../../migrations/0018_no_destination.sql"
};
static const unsigned char m0019[] = {
#embed "../../migrations/0019_replaced.sql"
};
static const unsigned char m0020[] = {
#embed "../../migrations/0020_resolve.sql"
};
static const unsigned char m0021[] = {
#embed "../../migrations/0021_clock.sql"
};
static const unsigned char m0022[] = {
#embed "../../migrations/0022_copies.sql"
};
static const unsigned char m0023[] = {
#embed "../../migrations/0023_recut.sql"
};
static const unsigned char m0024[] = {
#embed "../../migrations/0024_sightings.sql"
};
static const unsigned char m0025[] = {
#embed "../../migrations/0025_birth.sql"
};
static const unsigned char m0026[] = {
#embed "../../migrations/0026_sums.sql"
};
static const unsigned char m0027[] = {
#embed "../../migrations/0027_figures.sql"
};

// In order; the position, counted from 1, is the schema version. A test compares it with the folder.
static const cmigration all[] = {
    {"0001_ledger", m0001, sizeof m0001},
    {"0002_rules", m0002, sizeof m0002},
    {"0003_errors", m0003, sizeof m0003},
    {"0004_views", m0004, sizeof m0004},
    {"0005_control", m0005, sizeof m0005},
    {"0006_reading", m0006, sizeof m0006},
    {"0007_hidden", m0007, sizeof m0007},
    {"0008_protocols", m0008, sizeof m0008},
    {"0009_staging", m0009, sizeof m0009},
    {"0010_claims", m0010, sizeof m0010},
    {"0011_aborts", m0011, sizeof m0011},
    {"0012_replies", m0012, sizeof m0012},
    {"0013_single_rows", m0013, sizeof m0013},
    {"0014_standing", m0014, sizeof m0014},
    {"0015_flat", m0015, sizeof m0015},
    {"0016_opened_by", m0016, sizeof m0016},
    {"0017_hosts", m0017, sizeof m0017},
    {"0018_no_destination", m0018, sizeof m0018},
    {"0019_replaced", m0019, sizeof m0019},
    {"0020_resolve", m0020, sizeof m0020},
    {"0021_clock", m0021, sizeof m0021},
    {"0022_copies", m0022, sizeof m0022},
    {"0023_recut", m0023, sizeof m0023},
    {"0024_sightings", m0024, sizeof m0024},
    {"0025_birth", m0025, sizeof m0025},
    {"0026_sums", m0026, sizeof m0026},
    {"0027_figures", m0027, sizeof m0027},
};

const cmigration *cmigration_at(size_t i) { return i < sizeof all / sizeof *all ? &all[i] : 0; }
