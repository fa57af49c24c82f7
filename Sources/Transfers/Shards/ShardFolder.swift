package import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A folder made by `manifest shard`, as its index describes it.
package struct ShardFolder: Sendable, Hashable {
  /// Absolute.
  package let path: String
  /// Names of the files, in the order of their numbers.
  package let shards: [String]
  /// How many files could not be listed, and so are in no shard.
  package let failed: Int

  /// Reads the index, and compares it with the existing files and their sizes; their content is not read.
  /// - Throws: `.noSource` without a folder, without an index or without shards; `.badList` for an incomplete index,
  ///   and for files that it does not name, that are missing or have another size.
  package init(_ path: String) throws(TransferError) {
    self.path = path
    guard let names = ShardSet.names(in: path) else {
      throw Self.missing(
        path, "there is no such folder", "make it with \"transfers manifest shard M --shards N --into\"")
    }
    guard names.contains(ShardSet.indexName), let text = FileText.bytes("\(path)/\(ShardSet.indexName)") else {
      throw Self.missing(
        path, "it has no \(ShardSet.indexName) and is not complete", "make one with \"transfers manifest shard\"")
    }
    guard let listed = ShardIndex.shards(text), let failed = ShardIndex.number("failed", text) else {
      throw TransferError(
        .badList, "read shards in", NameBytes(path),
        cause: "\(ShardSet.indexName) is incomplete, or is not an index of shards",
        remedy: "make a new set with \"transfers manifest shard\"")
    }
    (shards, self.failed) = (listed.map(\.name), failed)
    guard !shards.isEmpty, ShardIndex.number("files", text) ?? 0 > 0 else {
      throw Self.missing(path, "the manifest was empty", "shard a manifest with files")
    }
    let found = names.filter { $0.hasPrefix("shard-") && $0.hasSuffix(".jsonl") }
    guard Set(found) == Set(shards) else {
      throw TransferError(
        .badList, "read shards in", NameBytes(path),
        cause:
          "it has \(found.count) shards, its index lists \(shards.count): they are of several sets, or some are lost",
        remedy: "make a new set with \"transfers manifest shard\"")
    }
    for (name, size) in listed { try Self.check(name, size, in: path) }
  }

  private static func check(_ name: String, _ size: Int, in path: String) throws(TransferError) {
    var status = stat()
    guard stat("\(path)/\(name)", &status) == 0, Int(status.st_size) != size else { return }
    let sizes = "\(name) has \(status.st_size) bytes, and \(size) by \(ShardSet.indexName)"
    throw TransferError(
      .badList, "read shards in", NameBytes(path), cause: "\(sizes): it is truncated, changed, or of another set",
      remedy: "copy the set again, or make a new one with \"transfers manifest shard\"")
  }

  /// Refuses an incomplete set: all tasks would succeed although some files could not be listed.
  /// - Throws: `.badList` for a set that lacks files.
  package func checkComplete() throws(TransferError) {
    guard failed > 0 else { return }
    throw TransferError(
      .badList, "read shards in", NameBytes(path),
      cause: "\(failed) \(failed == 1 ? "file" : "files") could not be listed and cannot be in a shard",
      remedy: "list them again, or give --incomplete to transfer the others")
  }

  private static func missing(_ path: String, _ cause: String, _ remedy: String) -> TransferError {
    TransferError(.noSource, "read shards in", NameBytes(path), cause: cause, remedy: remedy)
  }
}

extension ShardIndex {
  /// The names and sizes of the shards in a text that ``text(_:manifest:files:bytes:failed:)`` wrote; nil for any other
  /// or incomplete text.
  static func shards(_ bytes: [UInt8]) -> [(name: String, size: Int)]? {
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count >= 4, lines.suffix(2) == ["]}", ""], lines[0].hasPrefix("{\"set\":\"\(schema)\",") else {
      return nil
    }
    // Without shards there is an empty line.
    let shards = lines.dropFirst().dropLast(2).filter { !$0.isEmpty }.map(shard)
    guard lines[0].hasSuffix(",\"count\":\(shards.count),\"shards\":["), shards.allSatisfy({ $0 != nil }) else {
      return nil
    }
    return shards.compactMap(\.self)
  }

  /// A number in the first line, as that of the files that could not be listed ("failed"); nil if it has none.
  static func number(_ name: String, _ bytes: [UInt8]) -> Int? {
    number(name, String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)[...])
  }

  private static func number(_ name: String, _ line: Substring) -> Int? {
    guard let mark = line.firstRange(of: ",\"\(name)\":") else { return nil }
    return Int(line[mark.upperBound...].prefix(while: \.isWholeNumber))
  }

  /// The name and size of the shard in one line.
  private static func shard(_ line: Substring) -> (name: String, size: Int)? {
    let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
    guard parts.count > 4, parts[1] == "shard", parts[2] == ":", ["}", "},"].contains(parts.last) else { return nil }
    let digits = parts[3].dropFirst(6).dropLast(6)
    let isName = parts[3] == "shard-\(digits).jsonl" && !digits.isEmpty && digits.allSatisfy(\.isWholeNumber)
    let digest = parts[parts.count - 2]
    let isWhole = parts[parts.count - 4] == "sha256" && digest.utf8.count == 64 && digest.allSatisfy(\.isHexDigit)
    guard isName, isWhole, let size = number("size", line) else { return nil }
    return (String(parts[3]), size)
  }
}

extension TransferError.Kind {
  /// Another program or service that the command needs is missing, or refuses it.
  package static let unavailable = TransferError.Kind(rawValue: "unavailable")
}
