/// `transfers help destinations`.
enum DestinationHelp {
  static let text = """
    s3://bucket/prefix/          Amazon S3 or compatible (--endpoint-url); multipart for large files
    http(s)://host/path/         PUT to the path
    post+http(s)://host/path/    POST to the path
    dav+http(s)://host/path/     PUT, and missing collections are made (WebDAV)
    form+http(s)://host/path     POST of a form with the file (multipart/form-data), --field, --file-field
    tus+http(s)://host/path/     tus 1.0 at this endpoint; names go in the metadata of the uploads
    resumable+http(s)://host/p/  resumable uploads of the IETF drafts, where the server speaks them; else PUT
    http(s)://host/… --via NAME  what a profile says: token blocks, numbered chunks, Resumable.js, Dropbox … (help profiles)

    A final slash means "into": each file goes below it under its own name, a folder with its tree.
    Without it a single file goes to exactly that name.
    What each protocol can do: transfers help protocols
    Credentials come from the environment and files: the AWS variables and profiles for S3, --auth for the others,
    --input for profiles.

    """
}
