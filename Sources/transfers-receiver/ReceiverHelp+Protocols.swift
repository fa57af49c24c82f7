extension ReceiverHelp {
  /// The URL of each protocol, with working examples.
  static let protocols = #"""
    Upload protocols, all below /-/; the objects that they create are fetched as
    above. S is the size of the file, L the URL in the previous answer.

      tus 1.0, with all its extensions
        curl -i -X POST -H 'Tus-Resumable: 1.0.0' -H "Upload-Length: $S" \
          -H "Upload-Metadata: filename $(printf in/a | base64)" "$U/-/tus/"
        curl -X PATCH -T a -H 'Tus-Resumable: 1.0.0' -H 'Upload-Offset: 0' \
          -H 'Content-Type: application/offset+octet-stream' "$L"
        ?loc=relative ?ext=NAME,... ?max-size=N ?max-age=SECONDS

      IETF resumable uploads, versions 9, 8, 6, 5, 4, 3 and none
        curl -v -T a -H 'Upload-Draft-Interop-Version: 9' \
          -H 'Upload-Complete: ?1' "$U/-/resumable/in/a"
        curl -X PATCH -T rest -H 'Upload-Draft-Interop-Version: 9' \
          -H 'Upload-Complete: ?1' -H 'Upload-Offset: N' \
          -H 'Content-Type: application/partial-upload' "$L"
        ?max-size=N ?max-append-size=N ?min-append-size=N ?max-age=SECONDS
        ?no-104 ?loc=relative

      multipart/form-data; without key the file's own name
        curl -F key=in/a -F file=@a "$U/-/form/"

      token and ordered blocks, then a save call; also query?upToken=T
        curl -d "{\"fileName\":\"a\",\"totFileSize\":$S}" "$U/-/blocks/init"
        curl --data-binary @a "$U/-/blocks/block?upToken=T&sequenceNo=1&\
        blockSize=$S&totFileSize=$S&crc=CRC32"
        curl -d '{"fileUrl":"URL","name":"in/a"}' "$U/-/blocks/save"
        init?rotate=1 ?refuse-duplicates=1 ?max-age=SECONDS; a bearer token is
        sent in X-Token

      numbered chunks and a merge call; also status?uploadId=u
        curl --data-binary @a -H 'X-Upload-Id: u' -H 'X-Chunk-Number: 1' \
          -H 'X-Chunk-Count: 1' -H "X-Total-Size: $S" "$U/-/chunks/upload"
        curl -d '{"uploadId":"u","name":"in/a"}' "$U/-/chunks/merge"
        forms take uploadId chunkNumber chunkCount totalSize file; ?base=0;
        merge?merge=idempotent, otherwise a second call is 409;
        merge?merge=slow,SECONDS is 202, then GET merge?uploadId=u

      Resumable.js and Flow.js (flowChunkNumber ... at /-/flow)
        curl -F resumableChunkNumber=1 -F resumableTotalChunks=1 \
          -F "resumableChunkSize=$S" -F "resumableTotalSize=$S" \
          -F resumableIdentifier=u -F resumableRelativePath=in/a -F file=@a \
          "$U/-/resumablejs"

      Dropzone.js, and the merge call of applications
        curl -F dzuuid=u -F dzchunkindex=0 -F dztotalchunkcount=1 \
          -F "dztotalfilesize=$S" -F "dzchunksize=$S" -F dzchunkbyteoffset=0 \
          -F file=@a "$U/-/dropzone/upload"
        curl -d '{"id":"u","name":"in/a"}' "$U/-/dropzone/merge"

      Qiniu 1 and 2; a bearer token is sent as Authorization: UpToken
        curl --data-binary @a "$U/-/qiniu/mkblk/$S"
        curl -d CTX "$U/-/qiniu/mkfile/$S/key/$(printf in/a | base64)"
        curl -X POST "$U/-/qiniu/buckets/b/objects/$(printf in/a | base64)/uploads"
        curl -T a "$U/-/qiniu/buckets/b/objects/KEY/uploads/ID/1"
        curl -d '{"parts":[{"partNumber":1,"etag":"E"}]}' \
          "$U/-/qiniu/buckets/b/objects/KEY/uploads/ID"
        ?insert-only=1 answers 614 when the name is taken

      Microsoft Graph
        curl -d '{}' "$U/-/graph/drives/d/items/root:/in/a:/createUploadSession"
        curl -T a -H "Content-Range: bytes 0-$((S-1))/$S" "$L"

      Dropbox
        curl -H 'Dropbox-API-Arg: {}' -H 'Content-Type: application/octet-stream' \
          --data-binary @a "$U/-/dropbox/2/files/upload_session/start"
        curl -X POST -H 'Content-Type: application/octet-stream' \
          -H "Dropbox-API-Arg: {\"cursor\":{\"session_id\":\"ID\",\"offset\":$S},
          \"commit\":{\"path\":\"/in/a\"}}" \
          "$U/-/dropbox/2/files/upload_session/finish"

      Nextcloud 2, with D=$U/-/nextcloud/remote.php/dav
        curl -X MKCOL "$D/uploads/me/u"
        curl -T a "$D/uploads/me/u/00001"
        curl -X PROPFIND -H 'Depth: 1' "$D/uploads/me/u"
        curl -X MOVE -H "Destination: $D/files/me/in/a" "$D/uploads/me/u/.file"

      Google's resumable upload
        curl -i -X POST "$U/-/google/upload/in/a"
        curl -T a -H "Content-Range: bytes 0-$((S-1))/$S" "$L"
        curl -X PUT -H "Content-Range: bytes */$S" "$L"

      WebDAV with PATCH, with P=$U/-/davpatch; an empty PUT to a free name makes a
      temporary object, which MOVE publishes. A MOVE of nothing removes the
      Destination first, as sabre/dav does
        curl -X PUT -d '' "$P/in/.part"
        curl -X PATCH -T a -H "X-Update-Range: bytes=0-$((S-1))" \
          -H 'Content-Type: application/x-sabredav-partialupdate' "$P/in/.part"
        curl -I "$P/in/.part"
        curl -X MOVE -H "Destination: $P/in/a" -H 'Overwrite: F' "$P/in/.part"
    """#
}
