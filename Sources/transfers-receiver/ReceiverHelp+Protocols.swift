extension ReceiverHelp {
  /// One working line for each protocol.
  static let protocols = """
    Upload protocols, all below /-/; the objects they make are fetched as above:

      curl -F key=in/a.bin -F file=@a.bin "$U/-/form/"   multipart/form-data; without key the file's own name
      curl -i -H 'Tus-Resumable: 1.0.0' -H "Upload-Length: $(stat -c %s a.bin)" \\
        -H "Upload-Metadata: filename $(printf in/a.bin | base64)" -X POST "$U/-/tus/"
                                                         tus 1.0: creates an upload, in Location; then
      curl -X PATCH -T a.bin -H 'Tus-Resumable: 1.0.0' -H 'Upload-Offset: 0' \\
        -H 'Content-Type: application/offset+octet-stream' "$LOCATION"
                                                         ?loc=relative ?ext=NAME,… ?max-size=N ?max-age=SECONDS
      curl -v -T a.bin -H 'Upload-Draft-Interop-Version: 9' -H 'Upload-Complete: ?1' "$U/-/resumable/in/a.bin"
                                                         IETF resumable uploads, versions 9, 8, 6, 5, 3 and none: 104 with
                                                         the upload in Location; then HEAD, and the rest with
      curl -X PATCH -T rest -H 'Upload-Draft-Interop-Version: 9' -H 'Upload-Complete: ?1' -H 'Upload-Offset: N' \\
        -H 'Content-Type: application/partial-upload' "$LOCATION"
                                                         ?max-size= ?max-append-size= ?min-append-size= ?max-age= ?no-104
      T=$(curl -d '{"fileName":"a","totFileSize":9,"suffix":""}' "$U/-/blocks/init" | jq -r .data.upToken)
      curl --data-binary @a "$U/-/blocks/block?upToken=$T&sequenceNo=1&blockSize=9&totFileSize=9&crc=CRC32-IN-HEX"
      curl -d '{"fileUrl":"…","name":"in/a","size":9}' "$U/-/blocks/save"
                                                         token and ordered blocks, then the save call; query?upToken=T;
                                                         init?rotate=1 ?refuse-duplicates=1 ?max-age=SECONDS
      curl --data-binary @part1 -H 'X-Upload-Id: u1' -H 'X-Chunk-Number: 1' -H 'X-Chunk-Count: 2' \\
        -H 'X-Total-Size: 9' "$U/-/chunks/upload"        numbered chunks, or as a form with uploadId, chunkNumber,
                                                         chunkCount, totalSize and file; ?base=0 counts from 0
      curl "$U/-/chunks/status?uploadId=u1"              which chunks are there
      curl -d '{"uploadId":"u1","name":"in/a","count":2,"size":9}' "$U/-/chunks/merge"
                                                         a second merge is 409; ?merge=idempotent: 200;
                                                         ?merge=slow,SECONDS: 202, then GET merge?uploadId=u1
    """
}
