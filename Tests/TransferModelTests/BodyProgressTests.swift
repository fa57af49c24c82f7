import Testing
import TransferModel

@Suite struct BodyProgressTests {
  @Test func aByteOfAMegabyteIsAFailureAndASixteenthIsNot() {
    #expect(BodyProgress.isTiny(1, of: 8 << 20))
    #expect(BodyProgress.isTiny(1_000, of: 64 << 10))
    #expect(!BodyProgress.isTiny(4 << 10, of: 64 << 10))
    #expect(!BodyProgress.isTiny(64 << 10, of: 1 << 40), "this is enough, however much was sent")
    #expect(!BodyProgress.isTiny(1, of: 16), "one byte of sixteen is enough")
  }

  @Test func failuresAreForgivenForSomeOfTheFile() {
    #expect(!BodyProgress.forgives(1, ofFile: 8 << 20))
    #expect(BodyProgress.forgives(64 << 10, ofFile: 8 << 20))
    #expect(BodyProgress.forgives(2, ofFile: 20))
    #expect(!BodyProgress.forgives(0, ofFile: 0))
  }

  @Test func bodiesGetShorterWithEachFailure() {
    let lengths = (0...8).map { BodyProgress.longestBody(afterFailures: $0) }
    let expected: [Int64?] = [nil, nil, 8_388_608, 2_097_152, 524_288, 131_072, 65_536, 65_536, 65_536]
    #expect(lengths == expected)
  }
}
