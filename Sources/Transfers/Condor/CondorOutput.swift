import TransferEngine
package import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The output of a file-transfer plug-in. HTCondor fills the file with blanks before it calls, so that there is room
/// for the answer on a full disk: it is written into them, behind the ads of others, and never made shorter.
package enum CondorOutput {
  /// Writes ads behind those that are complete; durable on return. What stands behind them and is no complete ad was
  /// cut off: it is written over.
  /// - Throws: `.storeIO` when it cannot be written.
  package static func append(_ ads: [[UInt8]], to output: NameBytes) throws(TransferError) {
    let descriptor = output.withCString { open($0, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o666) }
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, let there = FileText.bytes(in: descriptor, limit: CondorFile.longestInput) else {
      throw failure(output)
    }
    var reader = ClassAdReader(there)
    while (try? reader.next()) != nil {}
    var text: [UInt8] = reader.end > 0 ? [0x0A] : []
    for ad in ads { text += ad + [0x0A] }
    // Of a half one that is longer nothing is left to be read.
    let rest = there[reader.end...].reversed().drop { $0 == 0x20 || $0 == 0x0A }.count
    text += Array(repeating: 0x20, count: max(0, rest - text.count))
    guard FileText.write(text, to: descriptor, at: reader.end), fdatasync(descriptor) == 0 else {
      throw failure(output)
    }
  }

  private static func failure(_ output: NameBytes) -> TransferError {
    TransferError(
      .storeIO, "write output", output, cause: String(cString: strerror(errno)),
      remedy: "what was moved is in the ledger; make room, and call it again")
  }
}
