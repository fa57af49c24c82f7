-- A bucket that is not there is one reason for all files of its destination, unlike an object that is not there.
INSERT INTO error_code (code, blame, hint) VALUES
  ('proto.no_destination', 'server', 'the bucket does not exist; make it or correct the destination, then run again');
