import ArgumentParser
import Transfers
import TransferModel

/// Shell completions for batches and IDs: the newest batches of the ledger on the command line. It reads only an
/// existing ledger, and ignores all errors.
enum LedgerCompletion {
  /// `b12` and names.
  static let batches = CompletionKind.custom { words, _, _ in
    newest(words).flatMap { batch in
      [batch.name.flatMap { isPlain($0) ? $0 : nil }, batch.id.description].compactMap(\.self)
    }
  }

  /// `b12`.
  static let ids = CompletionKind.custom { words, _, _ in newest(words).map(\.id.description) }

  private static let limit = 50

  private static func newest(_ words: [String]) -> [(id: BatchID, name: String?)] {
    let context = Context.ofProcess()
    guard let path = try? StoreLocation.path(option: store(words), environment: context.environment),
      let ledger = try? OpenStore(at: path, .readOnly, clock: context.clock)
    else { return [] }
    defer { ledger.close() }
    return (try? ledger.read { try $0.newestBatches(limit: limit) }) ?? []
  }

  private static func store(_ words: [String]) -> String? {
    if let index = words.lastIndex(of: "--store"), index + 1 < words.endIndex { return words[index + 1] }
    return words.last { $0.hasPrefix("--store=") }.map { String($0.dropFirst("--store=".count)) }
  }

  /// A name that needs no shell quoting.
  private static func isPlain(_ name: String) -> Bool {
    name.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x2B, 0x40, 0x25: true
      default: false
      }
    }
  }
}
