/// The media type of a file, by its extension. A short list of registered types: servers that need the type inspect the
/// content.
enum MediaType {
  static let unknown = "application/octet-stream"

  /// ``unknown`` for a name without a known extension; not case-sensitive.
  static func of(_ name: [UInt8]) -> String {
    let ext = FileName(name).ext.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
    return types[String(decoding: ext, as: UTF8.self)] ?? unknown
  }

  private static let types: [String: String] = [
    "7z": "application/x-7z-compressed", "aac": "audio/aac", "avi": "video/x-msvideo", "avif": "image/avif",
    "bmp": "image/bmp", "bz2": "application/x-bzip2", "css": "text/css", "csv": "text/csv",
    "doc": "application/msword", "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "epub": "application/epub+zip", "flac": "audio/flac", "gif": "image/gif", "gz": "application/gzip",
    "heic": "image/heic", "htm": "text/html", "html": "text/html", "ico": "image/vnd.microsoft.icon",
    "ics": "text/calendar", "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript",
    "json": "application/json", "jsonl": "application/jsonl", "log": "text/plain", "m4a": "audio/mp4",
    "m4v": "video/mp4", "md": "text/markdown", "mjs": "text/javascript", "mkv": "video/matroska",
    "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4", "mpeg": "video/mpeg", "mpg": "video/mpeg",
    "ndjson": "application/x-ndjson", "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odt": "application/vnd.oasis.opendocument.text", "ogg": "audio/ogg", "opus": "audio/ogg",
    "parquet": "application/vnd.apache.parquet", "pdf": "application/pdf", "png": "image/png",
    "ppt": "application/vnd.ms-powerpoint",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation", "rar": "application/vnd.rar",
    "rtf": "application/rtf", "svg": "image/svg+xml", "tar": "application/x-tar", "tgz": "application/gzip",
    "tif": "image/tiff", "tiff": "image/tiff", "tsv": "text/tab-separated-values", "txt": "text/plain",
    "wasm": "application/wasm", "wav": "audio/wav", "weba": "audio/webm", "webm": "video/webm", "webp": "image/webp",
    "woff2": "font/woff2", "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xml": "application/xml",
    "xz": "application/x-xz", "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip",
    "zst": "application/zstd",
  ]
}
