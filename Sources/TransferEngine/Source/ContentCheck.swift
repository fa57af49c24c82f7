public import TransferLedger
public import TransferModel
import TransferProtocols

/// Compares a source that has another ctime or device than before with what was sent of it.
public enum ContentCheck {
  /// How often a comparison begins anew because ctime moved again meanwhile.
  private static let patience = 3

  /// Whether the file at `path` holds what was sent of `moved`, and its identity then. What cannot be read or compared
  /// counts as other content. Blocking: reads the file.
  public static func verdict(
    of path: NameBytes, _ moved: MovedFile, _ content: SentContent
  ) -> (verdict: ContentVerdict, identity: SourceIdentity?) {
    let file = try? SourceFile(path: path)
    let now = file.flatMap { try? identity(of: $0, known: moved.identity, content, .never) }
    return (now == nil ? .other(moved.file) : .same(moved.file), now ?? file?.identity)
  }

  /// The identity that `file` has now, when it is the version that was known as `known`, of which `content` was sent;
  /// nil when it is another, or nobody can tell.
  ///
  /// A file that differs in its device alone needs not be known whole: its ctime, which nobody can set, is the same.
  /// - Throws: `source.io`; `engine.interrupted` when `stop` was asked for, and nothing is known of the file.
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

  private static func holds(_ file: SourceFile, _ content: SentContent, _ stop: ReadStop) throws(Failure) -> Bool {
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
