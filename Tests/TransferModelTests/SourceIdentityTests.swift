import Testing
import TransferModel

/// What two observations of a file say about its version.
@Suite struct SourceIdentityTests {
  private let admitted = SourceIdentity(size: 10, mtimeNs: 1, ctimeNs: 2, inode: 3, device: 4, boot: 5)

  private func relation(_ change: (inout SourceIdentity) -> Void) -> SourceIdentity.Relation {
    var now = admitted
    change(&now)
    return admitted.relation(to: now)
  }

  @Test func sizeMtimeAndInodeAlwaysCount() {
    #expect(relation { _ in } == .same)
    #expect(relation { $0.size = 11 } == .other)
    #expect(relation { $0.mtimeNs = 9 } == .other)
    #expect(relation { $0.inode = 9 } == .other)
    #expect(relation { ($0.inode, $0.boot) = (9, 9) } == .other)
    #expect(relation { ($0.mtimeNs, $0.ctimeNs) = (9, 9) } == .other)
  }

  @Test func theDeviceCountsWithinOneBoot() {
    #expect(relation { $0.device = 9 } == .moved)
    #expect(relation { $0.boot = 9 } == .same)
    #expect(relation { ($0.device, $0.boot) = (9, 9) } == .same)
  }

  @Test func ctimeAloneDecidesNothing() {
    #expect(relation { $0.ctimeNs = 9 } == .moved)
    #expect(relation { ($0.ctimeNs, $0.device) = (9, 9) } == .moved)
    #expect(relation { ($0.ctimeNs, $0.boot) = (9, 9) } == .moved)
  }
}
