import Glibc

/// From now on no thread can be started in this process, whoever runs it: there is no room for its stack.
package func refuseThreads() {
  typealias SetDefault = @convention(c) (UnsafePointer<pthread_attr_t>) -> Int32
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  precondition(pthread_attr_setstacksize(&attributes, 1 << 50) == 0)
  // A GNU extension that Swift does not import.
  let function = unsafeBitCast(dlsym(nil, "pthread_setattr_default_np"), to: SetDefault?.self)
  precondition(function?(&attributes) == 0)
}
