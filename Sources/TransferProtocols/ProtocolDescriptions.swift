import TransferModel

// What each protocol says of itself.

extension S3Protocol {
  static let descriptions = [
    ProtocolDescription(
      name: "s3", destination: "s3://", parallel: "parts", isResumable: true, probe: "ListParts, HEAD",
      digest: "CRC64NVME MD5 SHA-256", exactlyOnce: "yes: asked first")
  ]
}

extension PutProtocol {
  static let descriptions = [
    ProtocolDescription(
      name: "put", destination: "http(s)://", digest: "CRC32C", exactlyOnce: "yes: the same object"),
    ProtocolDescription(
      name: "post", destination: "post+http(s)://", digest: "CRC32C", exactlyOnce: "no: unknown"),
    ProtocolDescription(
      name: "dav", destination: "dav+http(s)://", digest: "CRC32C", exactlyOnce: "yes: the same object"),
  ]
}

extension FormProtocol {
  static let descriptions = [
    ProtocolDescription(
      name: "form", destination: "form+http(s)://", digest: "none", exactlyOnce: "no: unknown")
  ]
}

extension TusProtocol {
  static let descriptions = [
    ProtocolDescription(
      name: "tus", destination: "tus+http(s)://", parallel: "by joining", isResumable: true, probe: "HEAD",
      digest: "SHA-256/1 MD5 CRC32", exactlyOnce: "yes; unknown for joining")
  ]
}

extension ResumableProtocol {
  static let descriptions = [
    ProtocolDescription(
      name: "resumable", destination: "resumable+http(s)://", isResumable: true, probe: "HEAD",
      digest: "SHA-256 CRC32C", exactlyOnce: "yes; unknown for POST")
  ]
}
