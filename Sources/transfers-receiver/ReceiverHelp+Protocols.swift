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
      T=$(curl -d '{"fileName":"a","totFileSize":9,"suffix":""}' "$U/-/blocks/init" | jq -r .data.upToken)
      curl --data-binary @a "$U/-/blocks/block?upToken=$T&sequenceNo=1&blockSize=9&totFileSize=9&crc=CRC32-IN-HEX"
      curl -d '{"fileUrl":"…","name":"in/a","size":9}' "$U/-/blocks/save"
                                                         token and ordered blocks, then the save call; query?upToken=T;
                                                         init?rotate=1 ?refuse-duplicates=1 ?max-age=SECONDS
    """
}
