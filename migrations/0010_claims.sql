-- A claim passes over batches that are held back (paused by their share, their deadline, missing credentials), and must not
-- step over each of their rows. So ready files are in two orders: that of work, and that of work within a batch. The second
-- also holds what `status` and lists of batches add up, which took it from all files of a batch before.
DROP INDEX file_ready;
CREATE INDEX file_ready ON file (priority DESC, id) WHERE state = 'pending' AND not_before IS NULL;
CREATE INDEX file_ready_batch ON file (batch_id, priority DESC, id, size, state, not_before)
  WHERE state = 'pending' AND not_before IS NULL;
