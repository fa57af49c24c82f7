import TransferModel
import TransferReports

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The further pages of `--format html -o page.html`: `page-2.html`, `page-3.html` and so on, beside it. They get their
/// names when all of them are durable, before the first page. A file is replaced or removed only if it is such a page.
final class PageFiles: Sendable {
  private let file: NameBytes
  private let store: String?
  private struct State {
    var files: [(name: NameBytes, file: OutputFile)] = []
    var failure: CommandFailure?
    var isUsed = false
  }
  private let state = Lock(State())

  init(beside file: NameBytes, store: String?) { (self.file, self.store) = (file, store) }

  /// The command prints HTML.
  var links: HTMLPageLinks {
    state.withLock { $0.isUsed = true }
    return HTMLPageLinks(file: file)
  }

  /// Writes a page to a temporary file. After a failure nothing more is written.
  func write(_ number: Int, _ html: String) {
    guard state.withLock({ $0.failure == nil }) else { return }
    do throws(CommandFailure) {
      let name = HTMLPageLinks.name(number, of: file)
      try Self.check(name)
      let page = try OutputFile(name, store: store)
      page.stream.write(html)
      try page.seal()
      state.withLock { $0.files.append((name, page)) }
    } catch {
      state.withLock { $0.failure = error }
    }
  }

  /// Throws the first failure.
  func check() throws(CommandFailure) {
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  func place() throws(CommandFailure) {
    let pages = state.withLock { $0.files }
    // A report of many rows takes minutes, in which other files may get these names.
    for page in pages { try Self.check(page.name) }
    for page in pages { try page.file.place() }
  }

  func remove() { for page in state.withLock({ $0.files }) { page.file.remove() } }

  /// Removes the pages of an earlier report that had more of them.
  func removeFormer() {
    let (isUsed, count) = state.withLock { ($0.isUsed, $0.files.count) }
    guard isUsed else { return }
    var number = count + 2
    while true {
      let path = Self.path(HTMLPageLinks.name(number, of: file))
      guard Self.beginning(path) == .page, unlink(path) == 0 else { return }
      number += 1
    }
  }

  private enum Beginning { case absent, page, other }

  /// - Throws: if another file, which is not a page of such a report, already has this name.
  private static func check(_ name: NameBytes) throws(CommandFailure) {
    guard beginning(path(name)) == .other else { return }
    throw CommandFailure(
      .error, code: "output", "write \"\(name)\": the file exists, and is not a page of such a report",
      remedy: "another --output")
  }

  private static func path(_ name: NameBytes) -> [CChar] { name.bytes.map { CChar(bitPattern: $0) } + [0] }

  /// A page says that it is one in its first bytes.
  private static func beginning(_ path: [CChar]) -> Beginning {
    var facts = stat()
    guard lstat(path, &facts) == 0 else { return errno == ENOENT ? .absent : .other }
    guard facts.st_mode & S_IFMT == S_IFREG else { return .other }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return .other }
    defer { close(descriptor) }
    let mark = Array(HTMLPages.mark.utf8)
    var bytes = [UInt8](repeating: 0, count: mark.count)
    return read(descriptor, &bytes, mark.count) == mark.count && bytes == mark ? .page : .other
  }
}
