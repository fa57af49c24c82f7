import Glibc
import TransferModel

/// The contents of a folder, for clients of S3 and WebDAV.
struct FolderListing {
  let exchange: Exchange

  /// `GET /BUCKET?list-type=2`: all objects at any depth below a folder, as ListObjectsV2 of the S3 API lists them.
  /// Folders serve as buckets, and have no marker objects.
  func objects(_ query: Query) throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    guard let store = exchange.core.store else { throw .refuse(404, "bodies are discarded here") }
    let bucket = try ObjectPath(requestPath: exchange.head.path)
    exchange.recordedPath = bucket.bytes
    let (prefix, after) = (query["prefix"] ?? "", query["continuation-token"] ?? query["start-after"] ?? "")
    let most = Int(try query.number("max-keys") ?? 1_000)
    var keys: [[UInt8]] = []
    try store.walk(bucket, prefix: []) { keys.append($0) }
    keys = keys.filter { $0.starts(with: prefix.utf8) && Array(after.utf8).lexicographicallyPrecedes($0) }
    keys.sort { $0.lexicographicallyPrecedes($1) }
    var xml = "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
    xml += "<EncodingType>url</EncodingType><IsTruncated>\(keys.count > most)</IsTruncated>"
    for key in keys.prefix(most) {
      let object = try store.object(at: try ObjectPath(name: bucket.bytes.bytes + [0x2F] + key))
      xml += "<Contents><Key>\(encodedPath(key))</Key><Size>\(object.size)</Size>"
      xml += "<ETag>&quot;\(object.etag.dropFirst().dropLast())&quot;</ETag></Contents>"
    }
    if keys.count > most {
      xml += "<NextContinuationToken>\(encodedPath(keys[most - 1]))</NextContinuationToken>"
    }
    var answer = Answer(200, fields: [Answer.Field("Content-Type", "application/xml")])
    answer.body = Array((xml + "</ListBucketResult>").utf8)
    return answer
  }

  /// PROPFIND of one object, or of a collection and its direct members (RFC 4918 section 9.1).
  func properties(_ path: ObjectPath) throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    guard let store = exchange.core.store else { throw .refuse(404, "bodies are discarded here") }
    guard let depth = exchange.head["depth"], depth == "0" || depth == "1" else {
      throw .refuse(403, "only Depth 0 and 1 are supported")
    }
    guard let status = try store.status(of: path) else { throw .systemError(ENOENT, "read status of object") }
    var xml = "<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\">"
    if status.isDirectory {
      xml += Self.response(path.bytes.bytes + (path.bytes.isEmpty ? [] : [0x2F]), nil)
      for name in depth == "1" ? try store.names(in: path) : [] {
        let member = path.appending(name)
        let isFolder = try store.status(of: member)?.isDirectory ?? false
        xml += Self.response(
          member.bytes.bytes + (isFolder ? [0x2F] : []), isFolder ? nil : try store.object(at: member))
      }
    } else {
      xml += Self.response(path.bytes.bytes, try store.object(at: path))
    }
    var answer = Answer(207, fields: [Answer.Field("Content-Type", "application/xml; charset=utf-8")])
    answer.body = Array((xml + "</D:multistatus>").utf8)
    return answer
  }

  private static func response(_ path: [UInt8], _ object: StoredObject?) -> String {
    var properties = "<D:resourcetype><D:collection/></D:resourcetype>"
    if let object {
      properties = "<D:resourcetype/><D:getcontentlength>\(object.size)</D:getcontentlength>"
      properties += "<D:getetag>\(object.etag)</D:getetag>"
    }
    return "<D:response><D:href>/\(encodedPath(path))</D:href><D:propstat><D:prop>\(properties)</D:prop>"
      + "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
  }
}

extension ObjectStore {
  /// Sorted names in a folder, without the receiver's own.
  func names(in path: ObjectPath) throws(ExchangeEnd) -> [NameBytes] {
    let folder = try parent(of: path.appending(NameBytes("x")), creating: false)
    guard let directory = fdopendir(dup(folder.number)) else { throw .systemError(errno, "read collection") }
    defer { closedir(directory) }
    rewinddir(directory)
    var names: [NameBytes] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { NameBytes(Array($0.prefix { $0 != 0 })) }
      if name != NameBytes("."), name != NameBytes(".."), name != Self.hiddenName { names.append(name) }
    }
    return names.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
  }

  /// Every object at any depth below a folder, by its path relative to that folder.
  func walk(_ path: ObjectPath, prefix: [UInt8], _ found: ([UInt8]) -> Void) throws(ExchangeEnd) {
    for name in try names(in: path) {
      let (member, key) = (path.appending(name), prefix + name.bytes)
      if try status(of: member)?.isDirectory ?? false {
        try walk(member, prefix: key + [0x2F], found)
      } else {
        found(key)
      }
    }
  }
}

/// Percent-encodes everything but slashes and unreserved characters.
private func encodedPath(_ bytes: [UInt8]) -> String {
  bytes.map { byte in
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x2F, 0x5F, 0x7E: String(UnicodeScalar(byte))
    default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
  }.joined()
}
