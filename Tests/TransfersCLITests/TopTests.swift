import Testing
import TransferModel
import TransferReports
import Transfers

@testable import TransfersCLI

@Suite struct TopTests {
  private func file(
    _ number: Int64, _ path: String = "/data/a.bin", state: String = "pending", size: Int64? = 100, acked: Int64 = 0
  ) -> TopReading.Row {
    let row = FileRow(
      id: FileID(rawValue: number), uid: "u", batch: BatchID(rawValue: 1), generation: 1, path: NameBytes(path),
      destination: "", key: NameBytes("k"), size: size, state: state, cause: state == "failed" ? "http.413" : nil,
      message: nil, attempts: 1, bytesAcked: acked, bytesReused: 0, bytesTransferred: 0, bytesTransferredAtMost: 0,
      confirmedBy: nil, digest: nil, startedMs: nil, finishedMs: nil)
    return TopReading.Row(live: LiveFile(row), chunks: [])
  }

  private func reading(_ rows: [TopReading.Row]) -> TopReading {
    TopReading(
      engine: EngineStatus(EngineState(nil, StillClock(0))), totals: StateTotals(), rates: [0, 5, 10, 1 << 40],
      rows: rows)
  }

  private func frame(
    _ rows: [TopReading.Row], _ state: TopState = TopState(), columns: Int = 80, height: Int? = 24,
    isASCII: Bool = false, colour: Bool = false
  ) -> [String] {
    let style = TextStyle(columns: nil, usesColour: colour, isASCII: isASCII)
    return TopFrame(
      reading: reading(rows), state: state, name: "/l.db", nowMs: 0, style: style, columns: columns, height: height
    ).lines
  }

  private let hostile = [
    "日本語のとても長いファイル名です_ゲノム配列データ第二版_最終_確認済み.bam", "evil\u{1B}[31mred\u{7}\nforged", "rtl\u{202E}gnp.exe",
    "e\u{301}\u{308} 👩🏽‍🚀 emoji", String(repeating: "a long name ", count: 20),
  ]

  @Test(arguments: [1, 2, 7, 20, 40, 69, 70, 80, 120, 200], [1, 2, 5, 24, 50])
  func everyLineFits(_ columns: Int, _ height: Int) {
    let rows = hostile.enumerated().map { file(Int64($0.offset), $0.element, state: "active", size: .max, acked: .max) }
    for mode in [TopState.Mode.rows, .help, .typing] {
      for isASCII in [false, true] {
        let lines = frame(rows, TopState(mode: mode), columns: columns, height: height, isASCII: isASCII)
        #expect(lines.count <= height)
        for line in lines {
          #expect(DisplayWidth.of(line) <= columns, "\(columns): \(line)")
          #expect(!line.unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{202E}" }, "\(line)")
          #expect(!isASCII || line.allSatisfy(\.isASCII), "\(line)")
        }
      }
    }
  }

  /// The name is what people look for: its cause does not replace it.
  @Test func aCauseLeavesTheNameReadable() {
    let rows = [file(1, "/data/results-2026-11.tar", state: "failed")]
    #expect(frame(rows, columns: 90).contains { $0.contains("-11.tar (http.413)") })
    #expect(frame(rows, columns: 60).contains { $0.hasSuffix("…1.tar") || $0.hasSuffix("-11.tar") })
  }

  @Test func absurdFiguresAreShown() {
    let rows = [
      file(1, size: .min, acked: .max), file(2, size: .max, acked: .min), file(.max, size: nil, acked: -1),
      file(3, state: "active", size: 0),
    ]
    for order in TopState.Order.allCases {
      #expect(frame(rows, TopState(order: order)).contains { $0.contains("f3 ") })
    }
  }

  @Test(arguments: [(false, "████▒▒▒▒▁▁▁▁▁▁▁▁"), (true, "####>>>>........")])
  func aFileInOnePieceHasABarInTwoTones(_ isASCII: Bool, _ bar: String) {
    let row = TopReading.Row(live: LiveFile(file(1, state: "active", acked: 25).file, InFlight(bytes: 25)), chunks: [])
    let line = frame([row], isASCII: isASCII).first { $0.hasPrefix("> f1") }
    #expect(line?.contains(bar) == true && line?.contains("50 / 100 B") == true, "\(line ?? "")")
  }

  @Test func wideTerminalsShowTheRateOfAFile() {
    let live = LiveFile(
      file(1, state: "active", size: 200 << 20).file, InFlight(bytes: 64 << 20, bytesPerSecond: 8 << 20))
    let row = TopReading.Row(live: live, chunks: [])
    #expect(frame([row], columns: 120).contains { $0.contains("64.0 / 200 MiB    8.0 MiB/s  ") })
    #expect(!frame([row], columns: 100).contains { $0.contains("MiB/s") && $0.hasPrefix("> f1") })
  }

  @Test(arguments: [(100, 30, 90, 70), (100, 30, -5, 0), (100, 120, 5, 0), (100, -20, 500, 100), (0, 0, 9, 0)])
  func neverMoreIsInFlightThanIsLeft(_ size: Int64, _ acked: Int64, _ out: Int64, _ expected: Int64) {
    #expect(LiveFile(file(1, size: size, acked: acked).file, InFlight(bytes: out)).bytesInFlight == expected)
  }

  @Test func rowsThatDoNotFitAreCountedAndTheChosenOneIsShown() {
    var state = TopState()
    state.chosen = FileID(rawValue: 70)
    let lines = frame((1...100).map { file($0) }, state)
    let shown = lines.filter { $0.contains("/data/a.bin") }
    #expect(shown.contains { $0.hasPrefix("> f70 ") })
    #expect(lines.contains("  +\(100 - shown.count) more"))
    #expect(frame((1...100).map { file($0) }, height: nil).filter { $0.contains("/data/a.bin") }.count == 100)
  }

  @Test func keysMoveAndAskForWhatIsChosen() {
    let now = reading([file(1), file(2, "/data/Other"), file(3)])
    var state = TopState()
    #expect(state.press(.character("p"), now) == .act(.pause, FileID(rawValue: 1)))
    #expect(state.press(.down, now) == nil && state.chosen == FileID(rawValue: 2))
    #expect(state.press(.character("c"), now) == nil && state.said == "c again cancels f2 for good")
    #expect(state.press(.character("s"), now) == nil && state.press(.character("c"), now) == nil)
    #expect(state.press(.character("c"), now) == .act(.cancel, FileID(rawValue: 2)))
    for _ in 0..<9 { _ = state.press(.character("j"), now) }
    #expect(state.press(.character("t"), now) == .act(.retry, FileID(rawValue: 3)))
    _ = state.press(.up, now)
    #expect(state.press(.character("r"), now) == .act(.resume, FileID(rawValue: 2)))
    #expect(state.press(.character("q"), now) == .quit && state.press(.rest, now) == .rest)
    #expect(state.press(.character("p"), reading([])) == nil)
  }

  @Test func wordsFilterAndNoKeyActsWhileTheyAreTyped() {
    let now = reading([file(1), file(2, "/data/Other")])
    var state = TopState()
    for key in [TopKey.character("/"), .character("o"), .character("t"), .character("p"), .erase] {
      #expect(state.press(key, now) == nil)
    }
    #expect(state.rows(now).map(\.file.id.rawValue) == [2])
    #expect(state.press(.enter, now) == nil && state.mode == .rows)
    #expect(state.press(.character("p"), now) == .act(.pause, FileID(rawValue: 2)))
    _ = state.press(.escape, now)
    #expect(state.rows(now).count == 2)
    _ = state.press(.character("?"), now)
    #expect(state.mode == .help && state.press(.character("p"), now) == nil && state.mode == .rows)
  }

  @Test func rowsAreSorted() {
    let now = reading([
      file(1, "/b", size: 10), file(2, "/a", size: 30, acked: 29), file(3, "/c", size: 20, acked: 5),
    ])
    func order(_ order: TopState.Order) -> [Int64] { TopState(order: order).rows(now).map(\.file.id.rawValue) }
    #expect(order(.state) == [1, 2, 3] && order(.size) == [2, 3, 1])
    #expect(order(.left) == [3, 1, 2] && order(.path) == [2, 1, 3])
  }

  @Test func bytesAreKeys() {
    #expect(
      TopKey.parse(Array("p\u{1B}[A\u{1B}OB\r\u{7F}\u{1A}é".utf8)) == [
        .character("p"), .up, .down, .enter, .erase, .rest, .character("é"),
      ])
    #expect(TopKey.parse([0x1B]) == [.escape])
    #expect(TopKey.parse(Array("\u{1B}[1;5Cq".utf8)) == [.character("q")])
    #expect(TopKey.parse([0x1B, 0x5B]) == [] && TopKey.parse([0xFF, 0xC3, 0x28]) == [.character("(")])
  }

  @Test func aMapShowsWhatNeedsAttention() {
    func chunks(_ states: [String]) -> [ChunkMapRow] {
      states.enumerated().map { index, state in
        ChunkMapRow(
          id: ChunkID(rawValue: Int64(index)), seq: Int64(index), offset: 0, length: 1, state: state, bytesAcked: 0,
          attempts: 0, firstMs: nil, ackedMs: nil, httpStatus: nil, digest: nil, etag: nil, losses: 0, isReused: false)
      }
    }
    let row = file(1, size: 100, acked: 50).file
    let states = ["done", "in_flight", "waiting", "failed", "pending"]
    #expect(TopMap.text(chunks(states), LiveFile(row), columns: 16, isASCII: true) == "#>~!.")
    #expect(TopMap.text(chunks(states), LiveFile(row), columns: 16, isASCII: false) == "█▒~!▁")
    #expect(
      TopMap.text(chunks(Array(repeating: "done", count: 2000) + ["failed"]), LiveFile(row), columns: 4, isASCII: true)
        == "###!")
    #expect(TopMap.text([], LiveFile(row), columns: 4, isASCII: true) == "##..")
  }
}
