import Testing
import TransferModel
import Transfers

/// One protocol as the conformance suite sees it: where to send, and what it promises.
struct ConformanceSubject: Sendable, CustomTestStringConvertible {
  let name: String
  /// What is put before and after the URL of the receiver.
  var scheme = ""
  var path = "/up/"
  /// Where the receiver keeps what was sent, below its folder.
  var keptIn = "up/"
  /// In bytes; files of the suite have up to three chunks and a short one.
  var chunkSize = 64 << 10
  /// The method of the requests that carry bytes of a file.
  var dataMethod: String
  /// The paths of these requests, as a fault script writes them.
  var dataPath = "*"
  /// The server has a session that can be forgotten, found again and ended.
  var hasSession = true
  /// A cancelled upload is ended on the server.
  var canAbort = true
  /// The smallest file that the server accepts.
  var smallestSize = 0
  /// The server alone determines the size of chunks.
  var hasFixedChunks = false
  /// The server reports an offset, which can go back.
  var appends = false
  /// The offset is queried with HEAD.
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

  /// Of at least 12 MiB, and a multiple of the smaller one, as some servers demand.
  var largeChunk: Int { ((12 << 20) + chunkSize - 1) / chunkSize * chunkSize }

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
  /// The bodies can be larger than the buffers of the system, whose content counts as sent.
  static let large = all.filter { !$0.hasFixedChunks }
  /// With the statuses of a success. To Google 204 is none.
  static let early: [(ConformanceSubject, Int)] = large.flatMap { subject in
    [200, 204].filter { $0 == 200 || subject.name != "profile google" }.map { (subject, $0) }
  }
  static let appending = all.filter(\.appends)
  static let withHead = all.filter(\.hasHead)
}
