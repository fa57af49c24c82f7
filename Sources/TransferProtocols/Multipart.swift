import TransferModel

/// The frame of a `multipart/form-data` body around the bytes of one file (RFC 7578): all bytes before and after the
/// file, and so the total length, are known.
///
/// Names are written as in browsers (HTML, "multipart/form-data encoding algorithm"): `"` as `%22`, CR as `%0D`, LF as
/// `%0A`, all other bytes unchanged. `filename*` is not used: RFC 7578 section 4.2 forbids it.
public struct Multipart: Sendable, Hashable {
  public let boundary: String
  /// The bytes before the file; the whole body if there is none.
  public private(set) var prefix: [UInt8] = []
  /// The bytes after the file, including the closing boundary.
  public var suffix: [UInt8] { hasFile ? behind + closing : closing }
  public private(set) var hasFile = false

  private var behind: [UInt8] = []

  /// `boundary` has 1 to 70 characters that need no quotes.
  public init(boundary: String) {
    let isPlain = boundary.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
      default: false
      }
    }
    precondition(isPlain && (1...70).contains(boundary.utf8.count), "boundary \(boundary)")
    self.boundary = boundary
  }

  /// The boundary for the file with this identifier: the same for each attempt, and not predictable from the content.
  /// 192 bits of SHA-256 do not occur in a file by chance.
  package init(uid: UID) {
    let hash = RunningDigest.of(Array("multipart \(uid)".utf8), .sha256).bytes
    self.init(boundary: "--------transfers-" + hexText(hash.prefix(24)))
  }

  public var contentType: String { "multipart/form-data; boundary=\(boundary)" }

  /// Adds a field with a value.
  public mutating func add(name: [UInt8], value: [UInt8]) {
    append(opening(name) + Self.line("") + value + Self.line(""))
  }

  /// Adds the file; at most once. Fields that are added later follow it.
  public mutating func addFile(name: [UInt8], filename: [UInt8], type: [UInt8]) {
    precondition(!hasFile, "a second file")
    var head = opening(name, filename: filename)
    head += Self.line("Content-Type: ", type.filter { $0 >= 0x20 && $0 != 0x7F })
    append(head + Self.line(""))
    hasFile = true
    behind = Self.line("")
  }

  private mutating func append(_ bytes: [UInt8]) {
    if hasFile { behind += bytes } else { prefix += bytes }
  }

  private func opening(_ name: [UInt8], filename: [UInt8]? = nil) -> [UInt8] {
    var line = Array("Content-Disposition: form-data; name=\"".utf8) + Self.escaped(name) + [0x22]
    if let filename { line += Array("; filename=\"".utf8) + Self.escaped(filename) + [0x22] }
    return Self.line("--\(boundary)") + Self.line("", line)
  }

  private var closing: [UInt8] { Self.line("--\(boundary)--") }

  private static func line(_ text: String, _ bytes: [UInt8] = []) -> [UInt8] {
    Array(text.utf8) + bytes + [0x0D, 0x0A]
  }

  private static func escaped(_ name: [UInt8]) -> [UInt8] {
    name.flatMap { byte -> [UInt8] in
      switch byte {
      case 0x22: Array("%22".utf8)
      case 0x0D: Array("%0D".utf8)
      case 0x0A: Array("%0A".utf8)
      default: [byte]
      }
    }
  }
}
