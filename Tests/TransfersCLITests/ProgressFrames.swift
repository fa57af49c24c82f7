import TransferModel

@testable import TransfersCLI

/// Figures in the middle of a run: every kind of line, and names that are hard to display.
enum ProgressFrames {
  private static let mebibyte: Int64 = 1 << 20

  static func middle(files: Int = 6) -> ProgressFigures {
    var now = ProgressSnapshot()
    (now.filesTotal, now.filesDone, now.filesFailed, now.active) = (118, 61, 2, 23)
    (now.bytesTotal, now.bytesAcked, now.bytesInFlight) = (3_277 * mebibyte, 1_500 * mebibyte, 138 * mebibyte)
    now.elapsedMs = 45_000
    now.files = Array(rows.prefix(files))
    var figures = ProgressFigures(now: now, bytesPerSecond: 36_595_302, etaMs: 47_000, filesAdded: 12)
    figures.files = now.files.map { file in
      guard file.phase == .sending else { return ProgressFigures.File(progress: file) }
      return ProgressFigures.File(progress: file, bytesPerSecond: 19_084_083, etaMs: 49_000)
    }
    return figures
  }

  private static let rows: [FileProgress] = [
    row(1, "/data/x/\u{1B}[31mred\nforged", acked: 0, flight: 0, .failed(.http413)),
    row(2, "/data/y/c.bai", acked: 30, flight: 0, .retrying(inMs: 11_200, .http503, number: 3, limit: 8)),
    row(3, "/data/z/d.bam", acked: 300, flight: 11, .stalled(forMs: 14_900)),
    row(4, "/data/x/huge with a long name that no terminal of eighty columns can hold.bam", acked: 1_000, flight: 240),
    row(5, "/data/日本語のとても長いファイル名です/ゲノム配列データ第二版.bam", acked: 80, flight: 25),
    row(6, "/data/done.bam", acked: 2_000, flight: 0, .finishing),
  ]

  private static func row(
    _ id: Int64, _ path: String, acked: Int64, flight: Int64, _ phase: FileProgress.Phase = .sending
  ) -> FileProgress {
    FileProgress(
      id: FileID(rawValue: id), path: NameBytes(path), bytesTotal: 2_000 * mebibyte, bytesAcked: acked * mebibyte,
      bytesInFlight: flight * mebibyte, phase: phase)
  }
}
