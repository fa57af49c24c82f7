-- The attempt that began as one which must not be repeated, and whose own request opened this session: from then on the server can be
-- asked what became of it, so recovery asks instead of leaving its file unknown.
ALTER TABLE session ADD COLUMN opened_by INTEGER REFERENCES attempt (id) DEFERRABLE INITIALLY DEFERRED;
