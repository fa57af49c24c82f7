import Glibc
import Testing

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

/// From now on no thread can be started in this process, whoever runs it: there is no room for its stack.
private func refuseThreads() {
  typealias SetDefault = @convention(c) (UnsafePointer<pthread_attr_t>) -> Int32
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  precondition(pthread_attr_setstacksize(&attributes, 1 << 50) == 0)
  // A GNU extension that Swift does not import.
  let function = unsafeBitCast(dlsym(nil, "pthread_setattr_default_np"), to: SetDefault?.self)
  precondition(function?(&attributes) == 0)
}
