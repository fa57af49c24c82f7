-- A copy of the source that is sent instead of it; its name in the folder for such copies beside the ledger.
ALTER TABLE file ADD COLUMN staged TEXT CHECK (staged <> '' AND staged NOT LIKE '%/%');
-- Files that wait for their copy, and copies that are there.
CREATE INDEX file_settling ON file (batch_id) WHERE state = 'settling';
CREATE INDEX file_staged ON file (staged) WHERE staged IS NOT NULL;
