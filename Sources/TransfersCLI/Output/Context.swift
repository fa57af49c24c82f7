import TransferModel
import TransferReports
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The environment of a command: all access to the state of the process goes through it.
struct Context: Sendable {
  /// Without the program's name, in the form of ``EscapedArgument``.
  let arguments: [String]
  /// The parser's input: `arguments` with additions from the environment; not to be recorded.
  private(set) var parsed: [String] = []
  /// In the form of ``EscapedArgument`` too.
  let environment: [String: String]
  let out: OutputStream
  let err: OutputStream
  private(set) var machine: Machine
  /// How `serve` shows pages; nil for pages that are files.
  private(set) var live: HTMLLive?
  /// Which of its pages `serve` was asked for.
  private(set) var served: ServedPage?
  /// The further pages of a page in a file; nil for standard output, a device or a pipe.
  private(set) var pages: PageFiles?
  /// The configuration.
  private(set) var config = Config()
  /// The configured job that the command is run for.
  var job: String?
  /// The signals of the process; nil in tests within one process.
  private(set) var signals: SignalWatch?

  static func ofProcess() -> Context {
    Context(
      arguments: EscapedArgument.ofProcess(), environment: processEnvironment(), out: OutputStream(descriptor: 1),
      err: OutputStream(descriptor: 2), clock: SystemClock())
  }

  init(
    arguments: [String], environment: [String: String], out: OutputStream, err: OutputStream, clock: any TransferClock,
    signals: SignalWatch? = nil
  ) {
    self.init(
      arguments: arguments, environment: environment, out: out, err: err, machine: Machine(clock: clock),
      signals: signals)
  }

  init(
    arguments: [String], environment: [String: String], out: OutputStream, err: OutputStream, machine: Machine,
    signals: SignalWatch? = nil
  ) {
    (self.arguments, self.environment, self.out, self.err, self.machine) = (arguments, environment, out, err, machine)
    parsed = arguments
    self.signals = signals
  }

  var clock: any TransferClock { machine.clock }

  /// The ledger at this path, for operations on the whole ledger.
  func store(_ path: String) -> TransferStore { TransferStore(at: path, on: machine) }

  /// From now on signals do not end the process, which programs that it has started could outlive; for work without an
  /// engine that polls ``isStopRequested``.
  func catchSignals() { signals?.handle { _, _ in true } }

  /// Whether a signal has requested a stop by now; for any thread.
  var isStopRequested: @Sendable () -> Bool { { [signals] in (signals?.received.count ?? 0) > 0 } }

  /// The same context, in a process that handles signals.
  func answering(_ signals: SignalWatch) -> Context {
    var context = self
    context.signals = signals
    return context
  }

  /// The same context, with connections that are kept while its ledger is closed.
  func keeping(_ connections: StoreConnections?) -> Context {
    var context = self
    context.machine.connections = connections
    return context
  }

  /// The same context, for pages that `serve` shows.
  func showing(_ live: HTMLLive?, _ page: ServedPage?) -> Context {
    var context = self
    (context.live, context.served) = (live, page)
    return context
  }

  /// The same context, with another output.
  func writing(to out: OutputStream, _ pages: PageFiles? = nil) -> Context {
    var context = Context(
      arguments: arguments, environment: environment, out: out, err: err, machine: machine, signals: signals
    ).parsing(parsed).configured(config)
    context.pages = pages
    return context
  }

  /// The same context, with a configuration.
  func configured(_ config: Config) -> Context {
    var context = self
    context.config = config
    return context
  }

  func parsing(_ arguments: [String]) -> Context {
    var context = self
    context.parsed = arguments
    return context
  }

  /// An environment variable that is set and not empty.
  func variable(_ name: String) -> String? {
    guard let value = environment[name], !value.isEmpty else { return nil }
    return value
  }

  /// The origin of a single-valued option, by its long name: `--since`, or `TRANSFERS_SINCE` if it was not typed.
  func origin(_ long: String) -> String {
    let isTyped = arguments.prefix { $0 != "--" }.contains { $0 == "--\(long)" || $0.hasPrefix("--\(long)=") }
    return isTyped || variable(EnvironmentOptions.variable(long)) == nil
      ? "--\(long)" : EnvironmentOptions.variable(long)
  }

  private static func processEnvironment() -> [String: String] {
    var values: [String: String] = [:]
    var cursor = environ
    while let entry = cursor.pointee {
      let bytes = UnsafeBufferPointer(start: entry, count: strlen(entry)).map { UInt8(bitPattern: $0) }
      if let equals = bytes.firstIndex(of: 0x3D) {
        let name = String(decoding: bytes[..<equals], as: UTF8.self)
        values[name] = EscapedArgument.encode(Array(bytes[(equals + 1)...]))
      }
      cursor += 1
    }
    return values
  }
}

/// The clocks of this machine.
struct SystemClock: TransferClock {
  var wallMs: Int64 { Self.read(CLOCK_REALTIME) }

  var bootMs: Int64 {
    #if canImport(Glibc)
      Self.read(CLOCK_BOOTTIME)
    #else
      Self.read(CLOCK_MONOTONIC)
    #endif
  }

  private static func read(_ id: clockid_t) -> Int64 {
    var now = timespec()
    clock_gettime(id, &now)
    return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
  }
}
