import ArgumentParser

/// Handling of sources that may still be written.
struct SettlingOptions: ParsableArguments {
  @Flag(
    name: .customLong("no-wait-for-settling"),
    help:
      "Do not wait for files whose settle time has not passed: a later push or run sends them. They do not cause exit code 5."
  )
  var noWait = false
}
