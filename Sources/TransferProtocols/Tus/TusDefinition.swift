import TransferModel

extension TusProtocol {
  static let definition = ProtocolDefinition(
    web: "tus+",
    rules: WebRules(
      isEndpoint: true, tellsKeys: true,
      templateRefusal: .init(
        cause: "tus destinations have no {path} or {name}", remedy: "names go in the metadata of an upload")),
    ProtocolDescription(
      name: "tus", destination: "tus+http(s)://", usage: "tus+http(s)://host/path/",
      about: "tus 1.0 at this endpoint, with checksum and termination; names go in the metadata",
      parallel: "--parallel",
      isResumable: true, probe: "HEAD", digest: "SHA-256/1 MD5 CRC32", exactlyOnce: "yes, unless concatenated",
      notes: """
        tus: files are sent in bodies of at most --part-size (64 MiB), which begin at 8 MiB if they have a checksum and
        grow as they arrive, one after the other; with --parallel concurrently, if the server can concatenate uploads:
        it stores the file twice meanwhile, and a lost answer to the concatenation leaves the file unknown. Checksums
        are sent if the server announces them (--digest none: never). --method-override: for servers and proxies that
        do not support PATCH and DELETE.
        """),
    options: [
      .partSize, .expectContinue, .contentType, .digest, .parallel, .methodOverride,
    ],
    make: { settings, place throws(TransferError) in
      TusProtocol(endpoint: place, settings: try TusSettings(settings))
    })
}
