import Testing
import TransferModel

@testable import TransferEngine

/// Which files may begin under a quota.
@Suite struct QuotaAccountTests {
  /// An account that several expectations change.
  private final class Account {
    private(set) var value: QuotaAccount
    init(_ value: QuotaAccount) { self.value = value }
    var isUsedUp: Bool { value.isUsedUp }
    func begin(_ file: Int64, bytes: Int64) -> Bool { value.begin(FileID(rawValue: file), bytes: bytes) }
    func moved(_ bytes: Int64, of file: Int64) { value.moved(bytes, of: FileID(rawValue: file)) }
    func end(_ file: Int64) -> Bool { value.end(FileID(rawValue: file)) }
  }

  private func account(_ bytes: Int64, sent: Int64 = 0) -> Account {
    Account(QuotaAccount(JobQuota(bytes: bytes, per: .day), startMs: 0, sent: sent))
  }

  @Test func whatFitsBegins() {
    let account = account(100, sent: 30)
    #expect(account.begin(1, bytes: 40))
    #expect(account.begin(2, bytes: 30))
    #expect(!account.begin(3, bytes: 1) && account.isUsedUp)
  }

  /// Otherwise, large files would wait indefinitely behind small ones.
  @Test func nothingPassesTheFirstThatDoesNotFit() {
    let account = account(100)
    #expect(account.begin(1, bytes: 60))
    #expect(!account.begin(2, bytes: 50))
    #expect(!account.begin(3, bytes: 1))
  }

  @Test func whatIsLargerThanTheQuotaBeginsAlone() {
    let (fresh, begun) = (account(100), account(100, sent: 1))
    #expect(fresh.begin(1, bytes: 500))
    #expect(!fresh.begin(2, bytes: 0))
    #expect(!begun.begin(1, bytes: 500))
  }

  @Test func bytesThatAreSentAgainCount() {
    let account = account(100)
    #expect(account.begin(1, bytes: 40))
    account.moved(40, of: 1)
    account.moved(30, of: 1)
    #expect(!account.begin(2, bytes: 31))
    #expect(!account.end(1))
    #expect(account.isUsedUp)
  }

  @Test func whatAFileDidNotSendIsFreeAgain() {
    let account = account(100)
    #expect(account.begin(1, bytes: 90))
    #expect(!account.begin(2, bytes: 50))
    account.moved(20, of: 1)
    #expect(account.end(1) && !account.isUsedUp)
    #expect(account.begin(2, bytes: 80))
  }

  @Test func theNextPeriodCountsWhatIsLeftOfTheFilesInWork() {
    let account = account(100)
    #expect(account.begin(1, bytes: 90))
    account.moved(70, of: 1)
    #expect(!account.begin(2, bytes: 50))
    let next = Account(account.value.next(startMs: 86_400_000))
    #expect(next.begin(2, bytes: 80))
    #expect(!next.begin(3, bytes: 1))
  }
}
