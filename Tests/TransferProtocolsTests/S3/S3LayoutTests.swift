import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct S3LayoutTests {
  private let mebibyte: Int64 = 1 << 20

  /// Sizes around every power of two up to 48.8 TiB, and some in between.
  private var sizes: [Int64] {
    let powers = (0...45).flatMap { power in (-2...2).map { (Int64(1) << power) + $0 } }
    let spread = (0..<2000).map { Int64($0) &* 27_487_790_694 }
    return (powers + spread + [S3Layout.largestObject, S3Layout.largestObject - 1]).filter {
      $0 >= 0 && $0 <= S3Layout.largestObject
    }
  }

  @Test func everySizeKeepsEveryLimit() throws {
    for size in sizes {
      let layout = try S3Layout.layout(size: size, partSize: nil)
      #expect(layout.size == size)
      #expect(layout.count <= 10_000, "\(size)")
      #expect(layout.count == 1 || layout.chunkSize >= 16 * mebibyte)
      #expect(layout.count == 1 || layout.chunkSize % mebibyte == 0)
      #expect(layout.chunkSize <= 5 << 30)
      #expect(layout.range(layout.count - 1).end == size)
      #expect(layout.count == 1 || layout.range(layout.count - 1).length > 0)
    }
  }

  @Test func wholeFilesStayBelowSixteenMebibytes() throws {
    #expect(try S3Layout.layout(size: 0, partSize: nil).count == 1)
    #expect(try S3Layout.layout(size: 16 * mebibyte - 1, partSize: nil).count == 1)
    #expect(try S3Layout.layout(size: 16 * mebibyte + 1, partSize: nil).count == 2)
    #expect(try S3Layout.layout(size: 5 << 40, partSize: nil).chunkSize == 583 * mebibyte)
  }

  @Test func theUsersPartSize() throws {
    let five = 5 * mebibyte
    #expect(try S3Layout.layout(size: five, partSize: five).count == 1)
    #expect(try S3Layout.layout(size: five + 1, partSize: five).count == 2)
    #expect(try S3Layout.layout(size: five * 10_000, partSize: five).count == 10_000)
    for (size, part) in [
      (five * 10_000 + 1, five), (1, five - 1), (1, (5 << 30) + 1), (S3Layout.largestObject + 1, 5 << 30),
    ] {
      #expect(throws: TransferError.self) { try S3Layout.layout(size: size, partSize: part) }
    }
    do throws(TransferError) {
      _ = try S3Layout.layout(size: five * 10_000 + 1, partSize: five)
    } catch {
      #expect(error.description.contains("--part-size 6MiB"))
    }
  }
}
