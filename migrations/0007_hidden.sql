-- Lists leave out what was tidied away. Whether there is any is asked for each of them; a batch that nobody hides never
-- enters this index, as a file does not enter file_hidden.
CREATE INDEX batch_hidden ON batch (id) WHERE hidden = 1;
