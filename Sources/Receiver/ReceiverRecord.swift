import Glibc
public import TransferModel

/// The receiver's own account of what it accepted: an append-only file. ``ReceiverEvent`` describes the format.
public final class ReceiverRecord: Sendable {
  private let file: Descriptor?

  /// Opens `path` for appending, readable by its owner only; nil keeps no record.
  init(path: String?) throws(TransferError) {
    guard let path else {
      file = nil
      return
    }
    let opened = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard opened >= 0 else {
      throw TransferError(
        .config, "open record", NameBytes(path), cause: errorText(errno), remedy: "choose another --record")
    }
    file = Descriptor(opened)
  }

  /// Appends one event. On return it is in the file, and so survives the end of this process, but not yet a power cut.
  /// If the record cannot be written, the request is refused with 507: an unrecorded success would make the record
  /// worthless.
  func add(_ event: @autoclosure () -> ReceiverEvent) throws(ExchangeEnd) {
    guard let file else { return }
    let line = event().line
    let written = line.withUnsafeBytes { write(file.number, $0.baseAddress!, $0.count) }
    guard written == line.count else {
      throw .refuse(507, "write record: \(written < 0 ? errorText(errno) : "incomplete line")")
    }
  }

  /// Reads a record. A last line without its newline, which a full disk or a kill can leave, is not an event and is
  /// ignored; any other line that the receiver did not write throws `.config` with its number.
  public static func read(path: String) throws(TransferError) -> [ReceiverEvent] {
    let content = try bytes(ofFile: path, "read record")
    guard let lastNewline = content.lastIndex(of: 0x0A) else { return [] }
    var events: [ReceiverEvent] = []
    for line in content[..<lastNewline].split(separator: 0x0A, omittingEmptySubsequences: false) {
      guard let event = ReceiverEvent(line: line) else {
        throw TransferError(
          .config, "read record", NameBytes(path), cause: "line \(events.count + 1) is not a record of the receiver")
      }
      events.append(event)
    }
    return events
  }
}

/// The whole content of a file.
func bytes(ofFile path: String, _ operation: String) throws(TransferError) -> [UInt8] {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { throw TransferError(.config, operation, NameBytes(path), cause: errorText(errno)) }
  let descriptor = Descriptor(file)
  var content: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 64 << 10)
  while true {
    let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor.number, $0.baseAddress!, $0.count) }
    guard count >= 0 else {
      if errno == EINTR { continue }
      throw TransferError(.config, operation, NameBytes(path), cause: errorText(errno))
    }
    if count == 0 { return content }
    content += buffer[..<count]
  }
}
