/// The media type of a file, by the end of its name. A short list of the registered ones: servers that care look into
/// the bytes.
enum MediaType {
  static let unknown = "application/octet-stream"

  static func of(_ name: [UInt8]) -> String {
    let ext = FileName(name).ext.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
    return types[String(decoding: ext, as: UTF8.self)] ?? unknown
  }

  private static let types: [String: String] = [
    "txt": "text/plain", "log": "text/plain", "csv": "text/csv", "html": "text/html", "htm": "text/html",
    "css": "text/css", "js": "text/javascript", "md": "text/markdown", "json": "application/json",
    "xml": "application/xml", "pdf": "application/pdf", "zip": "application/zip", "gz": "application/gzip",
    "tar": "application/x-tar", "zst": "application/zstd", "jpg": "image/jpeg", "jpeg": "image/jpeg",
    "png": "image/png", "gif": "image/gif", "webp": "image/webp", "svg": "image/svg+xml", "heic": "image/heic",
    "tif": "image/tiff", "tiff": "image/tiff", "mp4": "video/mp4", "m4v": "video/mp4", "mov": "video/quicktime",
    "webm": "video/webm", "mkv": "video/matroska", "mp3": "audio/mpeg", "m4a": "audio/mp4", "wav": "audio/wav",
    "flac": "audio/flac", "ogg": "audio/ogg",
  ]
}
