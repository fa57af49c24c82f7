#include "CProfiles.h"

// Clang knows #embed in every C standard, and only says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char token_blocks[] = {
#embed "../../profiles/token-blocks.yaml"
};
static const unsigned char numbered_chunks[] = {
#embed "../../profiles/numbered-chunks.yaml"
};
static const unsigned char numbered_chunks_form[] = {
#embed "../../profiles/numbered-chunks-form.yaml"
};
static const unsigned char resumablejs[] = {
#embed "../../profiles/resumablejs.yaml"
};
static const unsigned char flow[] = {
#embed "../../profiles/flow.yaml"
};
static const unsigned char dropzone[] = {
#embed "../../profiles/dropzone.yaml"
};
static const unsigned char qiniu_v1[] = {
#embed "../../profiles/qiniu-v1.yaml"
};
static const unsigned char qiniu_v2[] = {
#embed "../../profiles/qiniu-v2.yaml"
};
static const unsigned char graph[] = {
#embed "../../profiles/graph.yaml"
};
static const unsigned char dropbox[] = {
#embed "../../profiles/dropbox.yaml"
};
static const unsigned char nextcloud[] = {
#embed "../../profiles/nextcloud.yaml"
};
static const unsigned char google[] = {
#embed "../../profiles/google.yaml"
};

// In the order in which people see them. A test compares it with the folder.
static const cprofile all[] = {
    {"token-blocks", token_blocks, sizeof token_blocks},
    {"numbered-chunks", numbered_chunks, sizeof numbered_chunks},
    {"numbered-chunks-form", numbered_chunks_form, sizeof numbered_chunks_form},
    {"resumablejs", resumablejs, sizeof resumablejs},
    {"flow", flow, sizeof flow},
    {"dropzone", dropzone, sizeof dropzone},
    {"qiniu-v1", qiniu_v1, sizeof qiniu_v1},
    {"qiniu-v2", qiniu_v2, sizeof qiniu_v2},
    {"graph", graph, sizeof graph},
    {"dropbox", dropbox, sizeof dropbox},
    {"nextcloud", nextcloud, sizeof nextcloud},
    {"google", google, sizeof google},
};

const cprofile *cprofile_at(size_t i) { return i < sizeof all / sizeof *all ? &all[i] : 0; }
