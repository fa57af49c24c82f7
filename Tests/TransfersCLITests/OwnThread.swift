import Glibc

/// A thread for a test that mostly waits for a process, so that the few threads that all tests share remain free.
enum OwnThread {
  private final class Body {
    let perform: () -> Void
    init(_ perform: @escaping () -> Void) { self.perform = perform }
  }

  static func run<Success: Sendable>(_ body: @escaping @Sendable () throws -> Success) async throws -> Success {
    try await withCheckedThrowingContinuation { continuation in
      let box = Body { continuation.resume(with: Result { try body() }) }
      var thread = pthread_t()
      let code = pthread_create(
        &thread, nil,
        { context in
          Unmanaged<Body>.fromOpaque(context!).takeRetainedValue().perform()
          return nil
        }, Unmanaged.passRetained(box).toOpaque())
      precondition(code == 0, "pthread_create: \(code)")
      pthread_detach(thread)
    }
  }
}
