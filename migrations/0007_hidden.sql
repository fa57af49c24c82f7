-- Lists leave out what was tidied away. Whether there is any is asked for each of them; a row that nobody hides never
-- enters this index.
CREATE INDEX file_hidden ON file (state, batch_id, size) WHERE hidden = 1;
CREATE INDEX batch_hidden ON batch (id) WHERE hidden = 1;
