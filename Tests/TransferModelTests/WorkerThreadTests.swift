import Glibc
import Testing
import TransferTestSupport

@testable import TransferModel

@Suite struct WorkerThreadTests {
  @Test func aThreadThatCannotBeStartedIsAnError() async {
    await #expect(processExitsWith: .success) {
      refuseThreads()
      let hasRun = Lock(false)
      do throws(TransferError) {
        try WorkerThread(to: "work") { hasRun.withLock { $0 = true } }.join()
        preconditionFailure("it was started")
      } catch {
        precondition(error.kind == .config && !hasRun.withLock { $0 })
        precondition("\(error)".hasPrefix("start a thread to \"work\": "), "\(error)")
        precondition(error.remedy == "raise the limit of processes and threads (ulimit -u), or end other programs")
      }
    }
  }

  @Test func aTransportHasAThreadForEachSixteenDescriptors() {
    #expect([16, 256, 1_024, 65_536].map { DescriptorLimit($0).connectionThreads } == [2, 16, 64, 128])
    #expect(DescriptorLimit(1_024).wakeDescriptors == 128)
  }
}
