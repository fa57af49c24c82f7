import TransferLedger
import TransferModel
import TransferProtocols

/// Compares a source whose ctime or device has changed with the content that was sent.
public enum ContentCheck {
  /// How often a comparison restarts because ctime changed again meanwhile.
  private static let patience = 3

  /// Whether the file at `path` has the content that was sent of `moved`, and its identity at that time. A file that
  /// cannot be read or compared counts as different. Blocking: reads the file.
  package static func outcome(
    of path: NameBytes, root: Int? = nil, _ moved: MovedFile, _ content: SentContent
  ) -> (outcome: ContentOutcome, identity: SourceIdentity?) {
    let file = try? SourceFile(path: path, root: root)
    let now = file.flatMap { try? identity(of: $0, known: moved.identity, content, .never) }
    return (now == nil ? .other(moved.file) : .same(moved.file), now ?? file?.identity)
  }

  /// The current identity of `file`, if it is the version known as `known`, of which `content` was sent; nil if it is
  /// another version, or cannot be determined.
  ///
  /// If only the device differs, the content need not be known completely: the ctime, which nobody can set, is the
  /// same.
  /// - Throws: `source.io`; `engine.interrupted` if `stop` was requested: no conclusion about the file is possible.
  static func identity(
    of file: SourceFile, known: SourceIdentity, _ content: SentContent, _ stop: ReadStop
  ) throws(Failure) -> SourceIdentity? {
    for _ in 0..<patience {
      let now = try file.currentIdentity()
      switch known.relation(to: now) {
      case .same: return now
      case .other: return nil
      case .moved: break
      }
      guard content.isCovered || known.ctimeNs == now.ctimeNs, try holds(file, content, stop) else { return nil }
      if try file.currentIdentity() == now { return now }
    }
    return nil
  }

  /// Whether the file has all of these pieces.
  static func holds(_ file: SourceFile, _ content: SentContent, _ stop: ReadStop) throws(Failure) -> Bool {
    for piece in content.pieces {
      let algorithm = piece.digest.algorithm
      do throws(Failure) {
        guard try file.digests(of: piece.range, [algorithm], stop)[algorithm] == piece.digest else { return false }
      } catch {
        guard error.code == .sourceShortRead else { throw error }
        return false
      }
    }
    return true
  }
}
