-- A file of which nothing is stored may be cut anew, into shorter chunks: over a line that drops, long ones do not arrive. Its
-- chunks keep their numbers and their attempts, and there are more of them.

-- The length of its chunks before: older attempts may have sent so much of one.
ALTER TABLE file ADD COLUMN first_chunk_size INTEGER CHECK (first_chunk_size > chunk_size);

DROP TRIGGER file_layout;
CREATE TRIGGER file_layout BEFORE UPDATE OF chunk_size, chunk_count, first_chunk_size ON file
WHEN NEW.state <> 'active'
  OR OLD.chunk_count IS NULL AND NEW.first_chunk_size IS NOT NULL
  OR OLD.chunk_count IS NOT NULL AND (
    NEW.chunk_size IS NULL OR NEW.chunk_size >= OLD.chunk_size OR NEW.chunk_count <= OLD.chunk_count
    OR NEW.first_chunk_size IS NOT coalesce(OLD.first_chunk_size, OLD.chunk_size)
    OR EXISTS (SELECT 1 FROM chunk WHERE file_id = NEW.id AND (state <> 'pending' OR acked > 0))
    OR EXISTS (SELECT 1 FROM session WHERE file_id = NEW.id AND state IN ('intended', 'open') AND abort_after IS NULL))
BEGIN SELECT RAISE(FAIL, 'the layout of an active file is set once, or made finer while nothing is stored'); END;

DROP TRIGGER chunk_fixed;
CREATE TRIGGER chunk_fixed BEFORE UPDATE OF id, file_id, seq, offset, length ON chunk
WHEN NEW.id <> OLD.id OR NEW.file_id <> OLD.file_id OR NEW.seq <> OLD.seq OR OLD.state <> 'pending' OR OLD.acked > 0
  OR NOT EXISTS (
    SELECT 1 FROM file WHERE id = NEW.file_id AND state = 'active' AND first_chunk_size IS NOT NULL
      AND NEW.offset = NEW.seq * chunk_size
      AND NEW.length = iif(NEW.seq = chunk_count - 1, size - NEW.offset, chunk_size))
BEGIN SELECT RAISE(FAIL, 'a chunk stays where it is, or goes where a finer layout puts it'); END;
