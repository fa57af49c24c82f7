import ArgumentParser

/// What is done about sources that may still be written.
struct SettlingOptions: ParsableArguments {
  @Flag(
    name: .customLong("no-wait-for-settling"),
    help:
      "Do not wait for files whose settle time is not over: a later push or run sends them. They are no reason for exit code 5."
  )
  var noWait = false
}
