import TransferModel

/// The known facts about a server's resumable uploads, kept for the run as names and values.
struct Discovery: Sendable, Hashable {
  enum Finding: Sendable, Hashable {
    /// To be queried with this version.
    case unasked(Interop)
    /// The server supports this version.
    case speaks(Interop)
    /// The server does not announce support: one request for each file, which it may still make resumable by a 104.
    case plain(Interop)
  }
  var finding: Finding
  var limits: UploadLimit

  init(_ values: [String: String]?, _ settings: ResumableSettings) {
    let first = settings.interops[0]
    limits = UploadLimit(values ?? [:])
    if let spoken = values?["speaks"].flatMap({ Interop(rawValue: $0) }) {
      finding = .speaks(spoken)
    } else if let tried = values?["tried"].flatMap({ Interop(rawValue: $0) }) {
      let rest = settings.interops.drop { $0 != tried }.dropFirst()
      finding = rest.first.map { .unasked($0) } ?? .plain(first)
    } else {
      finding = first.isDiscovered ? .unasked(first) : .plain(first)
    }
  }

  /// The values to keep after an answer to OPTIONS with `asked`.
  static func values(_ reply: TransferReply, asked: Interop) -> [String: String] {
    guard (200..<300).contains(reply.status), let limits = UploadLimit(reply.field("upload-limit")) else {
      return ["tried": asked.rawValue]
    }
    let named = reply.field("upload-draft-interop-version").flatMap { Interop(rawValue: $0) }
    return limits.values.merging(["speaks": (named ?? asked).rawValue]) { $1 }
  }

  /// The version used in requests.
  var interop: Interop {
    switch finding {
    case .unasked(let interop), .speaks(let interop), .plain(let interop): interop
    }
  }

  var isSpoken: Bool { if case .speaks = finding { true } else { false } }
}
