import TransferModel

extension ResumableProtocol {
  static let definition = ProtocolDefinition(
    web: "resumable+",
    ProtocolDescription(
      name: "resumable", destination: "resumable+http(s)://", usage: "resumable+http(s)://host/path/",
      about: "resumable uploads of the IETF drafts (--interop) if the server supports them; else PUT",
      isResumable: true,
      probe: "HEAD", digest: "SHA-256 CRC32C", exactlyOnce: "yes; unknown for POST",
      notes: """
        resumable: the drafts of the IETF (--interop 9, 8, 6, 5, 4, 3, final; default: 9, then 8) by PUT, or with
        --method post. A server with one URL for all uploads needs --method post, or {path} in the query of the
        destination. A server that does not support them gets one plain request for each file. --digest sha-256 sends
        digests ahead.
        """),
    options: [
      .partSize, .ifNoneMatch, .contentType, .acceptHTML, .accept202, .digest, .interop, .method,
    ],
    make: { settings, place throws(TransferError) in
      ResumableProtocol(place: place, settings: try ResumableSettings(settings))
    })
}
