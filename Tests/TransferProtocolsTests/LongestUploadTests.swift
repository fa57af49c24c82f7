import Testing
import TransferModel

@testable import TransferProtocols

/// Layouts of the longest file that a disk can show (a sparse one), and the longest parts that can be asked for.
@Suite struct LongestUploadTests {
  @Test(arguments: [nil, 1 << 20, Int64.max] as [Int64?])
  func theLongestFileHasALayout(_ part: Int64?) throws {
    for scheme in ["tus", "davpatch", "resumable"] {
      var settings = BatchSettings(destination: "\(scheme)+http://h/in/")
      settings.partSize = part
      let proto = try AllProtocols.make(settings, credentialsRegion: nil)
      let layout = try proto.layout(size: .max)
      #expect(layout.range(layout.count - 1).end == .max, "\(scheme)")
    }
  }

  @Test func aRangeHasALimit() throws {
    var settings = BatchSettings(
      destination: "http://h/", download: DownloadSettings(folder: NameBytes("/in")))
    for size: Int64 in [.max, 8_191 << 50, (1 << 40) + 1] {
      settings.options["part-size"] = .number(size)
      let error = #expect(throws: TransferError.self) { try AllProtocols.make(settings, credentialsRegion: nil) }
      #expect(error?.cause == "\(size) bytes are too many for a range")
    }
    settings.options["part-size"] = .number(1 << 40)
    _ = try AllProtocols.make(settings, credentialsRegion: nil)
  }
}
