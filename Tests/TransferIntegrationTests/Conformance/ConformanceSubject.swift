import Testing
import TransferModel
import Transfers

/// One protocol as the conformance suite sees it: where to send, and what the promise is there.
struct ConformanceSubject: Sendable, CustomTestStringConvertible {
  let name: String
  /// Put before the URL of the receiver, and after it.
  var scheme = ""
  var path = "/up/"
  /// Where the receiver keeps what was sent there, below its folder.
  var keptIn = "up/"
  /// Bytes; files of the suite have up to three chunks and a piece.
  var chunkSize = 64 << 10
  /// The requests that carry bytes of a file.
  var dataMethod: String
  /// The paths that they go to, as a fault script writes them.
  var dataPath = "*"
  /// There is something at the server that can be forgotten, found again and ended.
  var hasSession = true
  /// A cancelled upload is ended at the server.
  var canAbort = true
  /// The smallest file that the server takes.
  var smallestSize = 0
  /// The size of chunks is the server's and nobody else's.
  var hasFixedChunks = false
  /// The server names an offset: it can fall back.
  var appends = false
  /// The server is asked by HEAD where it is.
  var hasHead = false
  /// A request whose answer is lost may leave the file unknown, and then nothing is sent again.
  var mayBeUnknown = false
  var adjust: @Sendable (inout BatchSettings) -> Void = { _ in }

  var testDescription: String { name }

  func settings(url: String) -> BatchSettings {
    var settings = BatchSettings(destination: "\(scheme)\(url)\(path)")
    if hasSession { settings.options["part-size"] = .number(Int64(chunkSize)) }
    adjust(&settings)
    return settings
  }

  static let all: [ConformanceSubject] =
    [
      ConformanceSubject(name: "put", dataMethod: "PUT", hasSession: false),
      ConformanceSubject(name: "post", scheme: "post+", dataMethod: "POST", hasSession: false, mayBeUnknown: true),
      ConformanceSubject(name: "dav", scheme: "dav+", dataMethod: "PUT", hasSession: false),
      ConformanceSubject(
        name: "davpatch", scheme: "davpatch+", path: "/-/davpatch/up/", dataMethod: "PATCH", appends: true,
        hasHead: true),
      ConformanceSubject(
        name: "form", scheme: "form+", path: "/-/form/", keptIn: "", dataMethod: "POST", hasSession: false,
        mayBeUnknown: true),
      ConformanceSubject(
        name: "tus", scheme: "tus+", path: "/-/tus/?loc=relative", keptIn: "", dataMethod: "PATCH", appends: true,
        hasHead: true),
      ConformanceSubject(
        name: "tus without checksums", scheme: "tus+", path: "/-/tus/?ext=creation,termination", keptIn: "",
        dataMethod: "PATCH", appends: true, hasHead: true),
      ConformanceSubject(
        name: "tus joined", scheme: "tus+", path: "/-/tus/", keptIn: "", dataMethod: "PATCH", mayBeUnknown: true,
        adjust: { $0.options["parallel"] = true }),
      ConformanceSubject(
        name: "resumable", scheme: "resumable+", path: "/-/resumable/", keptIn: "", dataMethod: "PATCH", appends: true,
        hasHead: true, adjust: { ($0.options["digest"], $0.options["method"]) = ("sha-256", "post") }),
      ConformanceSubject(
        name: "resumable, one request", scheme: "resumable+", path: "/-/resumable/", keptIn: "", dataMethod: "PUT",
        hasSession: false, adjust: { $0.options["interop"] = "5" }),
    ] + profiles

  static func named(_ name: String) throws -> ConformanceSubject { try #require(all.first { $0.name == name }) }

  static let withSession = all.filter(\.hasSession)
  static let adjustable = withSession.filter { !$0.hasFixedChunks }
  /// Bodies can be larger than what the system takes on the way: what is in its buffers counts as sent.
  static let large = all.filter { $0.chunkSize == 64 << 10 }
  static let appending = all.filter(\.appends)
  static let withHead = all.filter(\.hasHead)
}
