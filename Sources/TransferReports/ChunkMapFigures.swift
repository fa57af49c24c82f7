import TransferModel

/// `report chunks`: the chunks of a file, and a map of them.
package enum ChunkMapFigures {
  package static let columns: [Column<ChunkMapRow>] = [
    .text("id", "Chunk") { "\($0.id)" },
    .integer("index", "Index") { $0.seq },
    .bytes("offset", "Offset") { $0.offset },
    .bytes("length", "Length") { $0.length },
    .text("state", "State") { $0.state }.label(),
    .bytes("bytes_acked") { $0.bytesAcked },
    .integer("attempts", "Attempts") { $0.attempts },
    .time("first_start_at", "First start") { $0.firstMs },
    .time("acked_at", "Stored") { $0.ackedMs },
    .integer("http_status", "HTTP") { $0.httpStatus },
    .text("digest", "Digest") { $0.digest },
    .text("etag") { $0.etag },
    .integer("losses") { $0.losses },
    .flag("reused") { $0.isReused },
  ]

  static let marks: [(mark: Character, words: String)] = [
    ("#", "done"), ("=", "reused"), (">", "in flight"), ("+", "partly stored"), ("~", "waits after a failure"),
    (".", "pending"), ("!", "failed"), ("?", "unknown"),
  ]

  private static func mark(_ chunk: ChunkMapRow) -> Character {
    switch chunk.state {
    case "done": chunk.isReused ? "=" : "#"
    case "in_flight": ">"
    case "failed": "!"
    case "unknown": "?"
    case "waiting": "~"
    default: chunk.bytesAcked > 0 ? "+" : "."
    }
  }

  /// The meaning of a character of a map.
  static func words(of mark: Character) -> String { marks.first { $0.mark == mark }?.words ?? "" }

  /// One character a chunk.
  package static func map(_ chunks: [ChunkMapRow]) -> String { String(chunks.map(mark)) }

  private static let columnsOfMap = 64

  /// The map in lines of 64, and what its characters mean.
  package static func words(_ map: String) -> String {
    let characters = Array(map)
    let lines = stride(from: 0, to: characters.count, by: columnsOfMap).map { from in
      "|" + String(characters[from..<min(from + columnsOfMap, characters.count)]) + "|"
    }
    let legend = marks.filter { map.contains($0.mark) }.map { "\($0.mark) \($0.words)" }
    return (lines + [legend.joined(separator: ", ")]).joined(separator: "\n")
  }
}

/// A file with its chunks.
package struct MappedFile: Sendable {
  package let file: FileRow
  package let chunks: [ChunkMapRow]

  package init(_ file: FileRow, _ chunks: [ChunkMapRow]) { (self.file, self.chunks) = (file, chunks) }
}

/// The columns of a list of files with maps of their chunks.
package enum MappedFileFigures {
  package static let columns: [Column<MappedFile>] = [
    .text("id", "File") { "\($0.file.id)" },
    .text("state", "State") { $0.file.state }.label(),
    .integer("chunks", "Chunks") { $0.chunks.count },
    .integer("chunks_done", "Done") { row in row.chunks.count { $0.state == "done" } },
    .bytes("bytes", "Size") { $0.file.size },
    .bytes("bytes_acked", "Acked") { $0.file.bytesAcked },
    .text("map") { ChunkMapFigures.map($0.chunks) },
    .name("path", "Path") { $0.file.path },
  ]
}
