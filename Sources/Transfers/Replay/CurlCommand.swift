import TransferLedger
package import TransferModel
import TransferProtocols

/// The request of an attempt as a curl command line for a POSIX shell. Secrets are references.
package struct CurlCommand: Sendable, Hashable {
  /// What the user has to know about it; one line each.
  package private(set) var remarks: [String] = []
  /// nil if the request can no longer be built.
  package private(set) var command: String?

  package init(_ row: RequestRow) {
    if !row.isRepeatable {
      remarks.append("sending this again may store its content twice: the server cannot detect a repetition")
    } else if Self.changesData(row) {
      remarks.append("this changes data on the server")
    }
    do {
      let (one, other) = (try ReplayedRequest(row, variant: 1), try ReplayedRequest(row, variant: 2))
      for (name, meaning) in one.secrets.variables {
        remarks.append("$\(name) works as a secret and is not printed; \(meaning)")
      }
      command = try line(row, one, other)
    } catch {
      remarks.append("this request cannot be reconstructed: \(Self.words(error))")
    }
    if row.operation == .create || row.operation == .probe, row.chunk == nil,
      row.settings.direction == .upload || row.key.isFolder
    {
      remarks.append(
        "it was a \(row.operation) request of the file; the folder or page that it may have been for is not recorded"
      )
    }
  }

  /// Queries only read, and so do all requests of downloads.
  private static func changesData(_ row: RequestRow) -> Bool {
    row.settings.direction == .upload && [.part, .finish, .abort, .create].contains(row.operation)
  }

  /// The remarks as comments, and the command.
  package var script: String {
    remarks.map { "# \(printable($0))\n" }.joined() + (command.map { $0 + "\n" } ?? "")
  }

  private static func words(_ error: any Error) -> String {
    switch error {
    case let failure as Failure: failure.message
    case let error as TransferError: error.cause
    default: "\(error)"
    }
  }

  private mutating func line(_ row: RequestRow, _ one: ReplayedRequest, _ other: ReplayedRequest) throws -> String {
    let shell = one.secrets.text
    var words = ["curl --globoff --path-as-is --include"]
    words.append(one.text.method == "HEAD" ? "--head" : "--request \(ShellText.quoted(one.text.method))")
    if let file = row.settings.caFile { words.append("--cacert \(ShellText.quoted(file))") }
    words += one.secrets.options
    if one.secrets.isSigned { words += signature(one.text) }
    words += fields(one, other, hasBody: Self.hasBody(row, one.text))
    var before = ""
    if row.settings.direction == .download, row.operation == .part || row.operation == .create, !row.key.isFolder {
      words.append("--output \(Self.outputName(row))")
    } else {
      (before, words) = body(row, one, words)
    }
    if one.secrets.text.pieces(one.text.url) != other.secrets.text.pieces(other.text.url) {
      remarks.append("a part of the URL is computed from a secret; it is left out")
      words.append(ShellText.quoted(String(one.text.url.prefix { $0 != "?" })))
    } else {
      words.append(shell.word(one.text.url))
    }
    return before + words.joined(separator: " \\\n  ")
  }

  /// The region is taken from the scope of the signature that was built: date, region, service.
  private mutating func signature(_ request: RequestText) -> [String] {
    remarks.append(
      "curl 7.87 or newer signs the request itself; with temporary keys add -H \"x-amz-security-token: $AWS_SESSION_TOKEN\""
    )
    let value = request.fields.first { $0.name.lowercased() == "authorization" }?.value ?? ""
    let scope = value.split(separator: "/").map(String.init)
    let region = scope.count > 2 ? scope[2] : "us-east-1"
    return [
      "--aws-sigv4 \(ShellText.quoted("aws:amz:\(region):s3"))", "--header 'x-amz-content-sha256: UNSIGNED-PAYLOAD'",
    ]
  }

  private mutating func fields(_ one: ReplayedRequest, _ other: ReplayedRequest, hasBody: Bool) -> [String] {
    var words: [String] = []
    for (field, twin) in zip(one.text.fields, other.text.fields) where !isLeftOut(field.name.lowercased(), one) {
      if one.secrets.text.pieces(field.value) == other.secrets.text.pieces(twin.value) {
        words.append("--header \(one.secrets.text.word("\(field.name): \(field.value)"))")
      } else {
        remarks.append("the field \(field.name) is computed from a secret or from the content, and left out")
      }
    }
    let hasType = one.text.fields.contains { $0.name.lowercased() == "content-type" }
    return words + (hasBody && !hasType ? ["--header 'Content-Type:'"] : [])
  }

  private func isLeftOut(_ name: String, _ request: ReplayedRequest) -> Bool {
    if name == "expect" || name == "content-length" { return true }
    if name == "authorization" { return request.secrets.isSigned || request.secrets.replacesAuthorization }
    return request.secrets.isSigned && ["x-amz-date", "x-amz-content-sha256", "host"].contains(name)
  }

  private static func hasBody(_ row: RequestRow, _ request: RequestText) -> Bool {
    request.body != nil || row.operation == .part && row.settings.direction == .upload
  }

  /// The text that precedes the command, and the words of the command with those for the body.
  private mutating func body(
    _ row: RequestRow, _ request: ReplayedRequest, _ words: [String]
  ) -> (before: String, words: [String]) {
    let text = request.secrets.text
    if let body = request.text.body {
      guard !body.isEmpty else { return ("", words + ["--data-binary ''"]) }
      guard body.count <= 100_000 else {
        remarks.append("its body of \(body.count) bytes is too long for a command line, and left out")
        return ("", words)
      }
      return (text.printing(body) + " |\n", words + ["--data-binary @-"])
    }
    guard row.operation == .part, let chunk = row.chunk else { return ("", words) }
    if row.settings.stage == true { remarks.append("a copy of the file was sent; this reads the file itself") }
    if row.settings.growing == .segments {
      remarks.append("a copy of a segment of the file was sent; this reads the beginning of the file itself")
    }
    let (set, file) = Self.file(row.path)
    let range = row.body ?? chunk.range
    let frame = (request.text.prefix, request.text.suffix)
    let isWhole = range.offset == 0 && range.length == row.size && frame.0.isEmpty && frame.1.isEmpty
    if isWhole, request.text.method == "PUT", !request.text.url.hasSuffix("/") {
      return (set, words + ["--upload-file \(file)"])
    }
    if row.body == nil, chunk.range.length < row.size {
      remarks.append("the body is the complete part; if the server had some of it, less was sent")
    }
    let cut = "tail -c +\(range.offset +| 1) -- \(file) | head -c \(range.length)"
    let parts = [frame.0, frame.1].map { $0.isEmpty ? "" : text.printing($0) + "; " }
    let source = parts == ["", ""] ? cut : "{ \(parts[0])\(cut); \(parts[1])}"
    return (set + source + " |\n", words + ["--data-binary @-"])
  }

  /// A line that sets a variable if the name is not plain text, and the word for the file.
  private static func file(_ path: NameBytes) -> (set: String, word: String) {
    if ShellText.isShown(path.bytes), let text = path.utf8 { return ("", ShellText.quoted(text)) }
    // The dot preserves trailing line feeds.
    return ("FILE=$(printf '\(ShellText.octal(path.bytes)).') FILE=${FILE%.}\n", "\"$FILE\"")
  }

  /// A file in the working directory, never the target file.
  private static func outputName(_ row: RequestRow) -> String { "\(row.attempt).part" }
}

extension StoreReader {
  /// The request of an attempt as a curl command line; nil if the attempt does not exist.
  package func curlCommand(of id: AttemptID) throws -> CurlCommand? {
    try reader.request(of: id).map { CurlCommand($0) }
  }
}
