import TransferModel

extension DavPatchProtocol {
  static let definition = ProtocolDefinition(
    web: "davpatch+", rules: .dav,
    ProtocolDescription(
      name: "davpatch", destination: "davpatch+http(s)://", usage: "davpatch+http(s)://host/path/",
      about: "WebDAV that resumes: PATCH with X-Update-Range (SabreDAV), then MOVE to the name",
      isResumable: true, probe: "HEAD", digest: "CRC32C", exactlyOnce: "yes: the same object",
      notes: """
        davpatch: for servers that list sabredav-partialupdate in the DAV field of OPTIONS; others: dav. Files are
        sent in bodies of --part-size (64 MiB; more from 16 GiB on) into a hidden object in the same collection,
        .transfers-ID, which is moved to the name of the file after HEAD has shown that it is complete.
        """),
    options: [.partSize, .ifNoneMatch, .expectContinue, .contentType],
    make: { settings, place throws(TransferError) in try DavPatchProtocol(place, settings) })

  private init(_ place: WebPlace, _ settings: BatchSettings) throws(TransferError) {
    if let partSize = settings.partSize, partSize < Self.smallestPart {
      throw TransferError(
        .usage, "plan upload", cause: "a part must be 16 KiB or more, not \(partSize) bytes",
        remedy: "choose another --part-size or leave it out")
    }
    self.init(
      place: place, partSize: settings.partSize, ifNoneMatch: settings.ifNoneMatch,
      expectContinue: settings.expectContinue,
      mediaType: try MediaTypeChoice(parsing: settings.contentType ?? MediaType.unknown))
  }
}
