import TransferEngine
package import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Watches the sources of jobs on a separate thread, so that a folder that hangs (because a file server is unavailable)
/// does not block callers. It is best effort; see ``SourceWatch``.
package final class SourceWatcher: Sendable {
  /// The sources to watch for a job.
  package struct Sources: Sendable {
    package var named: [NameBytes]
    package var options: UploadOptions
    fileprivate let ownFiles: OwnFiles

    /// - Parameters:
    ///   - store: the path of the ledger; changes of its files are ignored.
    ///   - files: files that jobs write themselves, whose changes are ignored, too.
    package init(named: [NameBytes], options: UploadOptions, store: String, files: [String]) {
      (self.named, self.options, ownFiles) = (named, options, OwnFiles(ledger: store, files: files))
    }
  }

  /// Changes since the last call, by job.
  package struct News: Sendable {
    package var changed: Set<String> = []
    package var remarks: [(job: String, text: String)] = []
  }

  private struct State: Sendable {
    var news = News()
    /// What to watch from now on; nil if that has not changed.
    var wanted: [String: Sources]?
  }

  /// The interval between two checks whether sources are still the same, in milliseconds.
  private static let lookMs: Int64 = 2_000

  private let state: Lock<State>
  private let wake: (read: Int32, write: Int32)

  /// nil if no descriptors or no thread are available; `errno` says why.
  package init?(_ clock: any TransferClock) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    let (state, reader) = (Lock(State()), ends[0])
    guard let thread = try? WorkerThread(to: "watch sources", { Self.work(state, reader, clock) }) else {
      for end in ends { close(end) }
      errno = EAGAIN
      return nil
    }
    thread.detach()
    self.state = state
    wake = (ends[0], ends[1])
  }

  /// Ends the thread.
  deinit { close(wake.write) }

  /// Watches these from now on, instead of all others. Returns immediately.
  package func watch(_ jobs: [String: Sources]) {
    state.withLock { $0.wanted = jobs }
    var byte: UInt8 = 0
    write(wake.write, &byte, 1)
  }

  package func take() -> News {
    state.withLock { state in
      defer { state.news = News() }
      return state.news
    }
  }

  // MARK: On the thread

  private static func work(_ state: Lock<State>, _ wake: Int32, _ clock: any TransferClock) {
    defer { close(wake) }
    var watches: [(job: String, watch: SourceWatch)] = []
    var tendsAtMs: Int64 = 0
    while true {
      if let wanted = state.withLock({ $0.wanted.take() }) {
        watches = wanted.sorted { $0.key < $1.key }.compactMap { job, sources in
          sources.watched.map { (job, SourceWatch($0)) }
        }
        tendsAtMs = 0
      }
      let nowMs = clock.bootMs
      if nowMs >= tendsAtMs {
        for (job, watch) in watches { note(watch.tend(nowMs: nowMs), job, state) }
        tendsAtMs = clock.bootMs + lookMs
      }
      let descriptors = [wake] + watches.map(\.watch.descriptor)
      guard wait(descriptors, atMostMs: max(0, tendsAtMs - clock.bootMs)) else { return }
      for (job, watch) in watches { note(watch.drain(nowMs: clock.bootMs), job, state) }
    }
  }

  /// False when the watcher is gone and the thread should end.
  private static func wait(_ descriptors: [Int32], atMostMs: Int64) -> Bool {
    // poll() ignores descriptors below 0.
    var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    _ = poll(&entries, nfds_t(entries.count), Int32(clamping: atMostMs))
    guard entries[0].revents != 0 else { return true }
    var bytes: (UInt64, UInt64) = (0, 0)
    while true {
      let count = read(entries[0].fd, &bytes, MemoryLayout.size(ofValue: bytes))
      if count <= 0 { return count < 0 }
    }
  }

  private static func note(_ news: SourceWatch.News, _ job: String, _ state: Lock<State>) {
    guard news.hasChanged || !news.remarks.isEmpty else { return }
    state.withLock { state in
      if news.hasChanged { state.news.changed.insert(job) }
      state.news.remarks += news.remarks.map { (job, $0) }
    }
  }
}

extension SourceWatcher.Sources {
  /// nil for sources from a list.
  fileprivate var watched: WatchedSources? {
    guard options.list == nil else { return nil }
    return WatchedSources(
      options.selection(named), marker: options.readyFile.flatMap { try? ReadyMarker($0) }, ownFiles: ownFiles)
  }
}
