import TransferEngine
import TransferLedger
package import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file of ClassAds, as HTCondor passes them to a program and expects the answer. It fills the file of the answer
/// with blanks beforehand, so that there is space for it on a full disk. The answer overwrites the blanks, after the
/// ads of others; the file is never shortened.
package enum ClassAdFile {
  /// The maximum size, in bytes: enough for 65,536 files with some 4 KiB each.
  private static let longest = 256 << 20

  /// Reads an input whose answer goes to `output`.
  /// - Throws: `.noSource`, `.badList`; `.usage` for an output with text that is not a ClassAd.
  static func read(_ input: NameBytes, answeredIn output: NameBytes) throws(TransferError) -> [ClassAd] {
    if Ledger.ledger(owning: output) == nil, let there = FileText.bytes(output, limit: longest) {
      _ = try end(of: there, output)
    }
    guard let bytes = FileText.bytes(input, limit: longest), bytes.count < longest else {
      throw TransferError(
        .noSource, "read input", input, cause: "it cannot be read, or is larger than 256 MiB", remedy: "see -infile")
    }
    var reader = ClassAdReader(bytes)
    var ads: [ClassAd] = []
    do throws(ClassAdReader.Fault) {
      while let ad = try reader.next() { ads.append(ad) }
    } catch {
      throw TransferError(
        .badList, "read input", input, cause: "line \(error.line): \(error.cause)",
        remedy: "it must contain ClassAds in the new syntax, as HTCondor writes them")
    }
    return ads
  }

  /// Writes ads after those that are complete; durable on return. An incomplete ad after them was interrupted, and is
  /// overwritten.
  /// - Throws: `.storeIO` when it cannot be written; `.usage` if it has text that is not a ClassAd.
  package static func append(_ ads: [[UInt8]], to output: NameBytes) throws(TransferError) {
    if let ledger = Ledger.ledger(owning: output) {
      throw TransferError(
        .usage, "write output", output, cause: "this is a file of the ledger \"\(ledger)\"", remedy: "another -outfile")
    }
    let descriptor = output.withCString { open($0, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o666) }
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, let there = FileText.bytes(in: descriptor, limit: longest) else {
      throw failure(output)
    }
    let end = try end(of: there, output)
    var text: [UInt8] = end > 0 ? [0x0A] : []
    for ad in ads { text += ad + [0x0A] }
    // Overwrites the rest of an incomplete ad that is longer than the new text.
    let rest = there[end...].reversed().drop { $0 == 0x20 || $0 == 0x0A }.count
    text += Array(repeating: 0x20, count: max(0, rest - text.count))
    guard FileText.write(text, to: descriptor, at: end), fdatasync(descriptor) == 0 else {
      throw failure(output)
    }
  }

  /// Where the complete ads end: blanks follow, or an ad whose writer was interrupted.
  private static func end(of there: [UInt8], _ output: NameBytes) throws(TransferError) -> Int {
    let text = Array(there[..<((there.lastIndex { !Self.blanks.contains($0) } ?? -1) + 1)])
    var reader = ClassAdReader(text)
    while (try? reader.next()) != nil {}
    // Other formats also begin with a bracket; only an ad of ours ends with the text.
    let next = text[reader.end...].first { !Self.blanks.contains($0) }
    guard next != nil, !(next == 0x5B && reader.isAtEnd) else { return reader.end }
    throw TransferError(
      .usage, "write output", output, cause: "it has text that is not a ClassAd", remedy: "another -outfile")
  }

  /// NUL is what a file has where it was made longer.
  private static let blanks: [UInt8] = [0x00, 0x09, 0x0A, 0x0D, 0x20]

  private static func failure(_ output: NameBytes) -> TransferError {
    TransferError(
      .storeIO, "write output", output, cause: systemText(errno),
      remedy: "completed transfers are in the ledger; free space, and run the plug-in again")
  }
}
