-- A ledger that was copied by other means than `store backup` does not say so itself. A file system that keeps the time at which a file
-- came into being gives it to no other file, and nobody can set it: when it differs, the ledger is in another file than before.

-- Of the file in which the ledger was opened last, in nanoseconds since 1970 UTC; NULL in a copy that was not opened yet, and where
-- the file system does not keep it.
ALTER TABLE store_meta ADD COLUMN born_ns INTEGER;
