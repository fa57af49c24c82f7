import CurlTransport
import TransferEngine
import TransferLedger
import TransferModel
import TransferProtocols
import TransferReports

/// Delivers callbacks: runs programs without a shell, and posts documents over libcurl. Redirects are failures:
/// documents go only to the receiver that was named.
final class CallbackDelivery: CallbackCarrier {
  private let ledger: Ledger
  private let clock: any TransferClock
  /// How long one delivery may take with all that it needs, in milliseconds.
  private let limitMs: Int64
  /// Used instead of libcurl; nil for libcurl.
  private let carrier: (any Transport)?
  private let transport = Lock<CurlTransport?>(nil)
  private let numbers = Lock<UInt64>(0)

  init(
    _ ledger: Ledger, clock: any TransferClock, carriedBy carrier: (any Transport)?,
    limitMs: Int64 = CallbackDeadline.limitMs
  ) {
    (self.ledger, self.clock, self.carrier, self.limitMs) = (ledger, clock, carrier, limitMs)
  }

  /// Closes all connections. Blocks until the last thread has ended.
  func stop() {
    transport.withLock { held in
      defer { held = nil }
      return held
    }?.stop()
  }

  /// The time of one delivery. Programs and requests take time of the machine, whatever the clock of the ledger is.
  private struct Term {
    let endMs: Int64
    let isOver: @Sendable () -> Bool

    init(limitMs: Int64, _ isOver: @escaping @Sendable () -> Bool) {
      (endMs, self.isOver) = (SystemClock().bootMs +| limitMs, isOver)
    }

    /// What is left, in milliseconds.
    func leftMs() throws(Failure) -> Int64 {
      let leftMs = endMs - SystemClock().bootMs
      guard leftMs > 0 else { throw Failure(.localIO, "its key or its URL took all of its time") }
      return leftMs
    }
  }

  func deliver(_ callback: DueCallback, isOver: @escaping @Sendable () -> Bool) -> DeliveryEnd {
    let term = Term(limitMs: limitMs, isOver)
    do throws(Failure) {
      switch callback.setting.kind {
      case .exec:
        let words = ShellWords.split(callback.setting.target) ?? []
        return try run(words, try document(callback), term, CallbackVariables(words, settings(callback)))
      case .mail: return try mail(callback, term)
      case .webhook: return try post(callback, term)
      case .ping: return try ping(callback, term)
      }
    } catch {
      return DeliveryEnd(error.code == .engineInterrupted ? .interrupted : .failed, message: error.message)
    }
  }

  // MARK: - Programs

  private func run(
    _ words: [String], _ input: [UInt8], _ term: Term, _ variables: CallbackVariables
  ) throws(Failure) -> DeliveryEnd {
    let command = try RunningCommand(words, input: input, code: .localIO)
    let (code, output) = try command.result(
      keeping: DeliveryEnd.outputBytes, limitMs: try term.leftMs(), isOver: term.isOver)
    let kept = CallbackOutput.masked(output, variables.secrets, others: variables.others)
    if code == 0 { return DeliveryEnd(.ok, exitCode: 0, output: kept) }
    let how = code < 0 ? "was ended by a signal" : "ended with exit code \(code)"
    return DeliveryEnd(.failed, exitCode: Int(code), message: "the program \(how)", output: kept)
  }

  /// `-i`: a line with only a dot does not end the message; `-t`: it contains the recipients. Source: sendmail(8).
  private func mail(_ callback: DueCallback, _ term: Term) throws(Failure) -> DeliveryEnd {
    let words = ShellWords.split(callback.setting.target) ?? []
    guard words.count > 1, let job = ToldJob(inDocument: callback.body) else {
      throw Failure(.engineBug, "a mail without recipients or without a job")
    }
    let message = MailMessage.bytes(
      to: Array(words.dropFirst()), subject: "transfers: job \(job.name ?? ""): \(job.result ?? "")", id: callback.key,
      host: HostFacts.name, lines: job.lines(in: ledger.path))
    return try run([words[0], "-i", "-t"], message, term, CallbackVariables(words, nil))
  }

  // MARK: - Requests

  private func post(_ callback: DueCallback, _ term: Term) throws(Failure) -> DeliveryEnd {
    let body = try document(callback)
    let seconds = clock.civilMs / 1_000
    var secrets: [String] = []
    var fields = [("webhook-id", callback.key), ("webhook-timestamp", "\(seconds)"), ("Idempotency-Key", callback.key)]
    if !callback.setting.secret.isEmpty {
      let secret = try secret(callback.setting.secret, term)
      secrets += [secret] + (secret.hasPrefix("whsec_") ? [String(secret.dropFirst(6))] : [])
      fields.append(
        ("webhook-signature", Webhook.signature(secret: secret, id: callback.key, seconds: seconds, body: body)))
    }
    let url = try url(callback, &secrets, term)
    guard let request = TransferRequest.post(url, json: body, fields: fields.map { (name: $0.0, value: $0.1) }) else {
      throw Failure(.engineBug, "a field of a webhook is not valid")
    }
    return try send(request, secrets, term)
  }

  private func ping(_ callback: DueCallback, _ term: Term) throws(Failure) -> DeliveryEnd {
    var secrets: [String] = []
    let url = Webhook.ping(try url(callback, &secrets, term), callback.setting.event)
    let text = [(name: "Content-Type", value: "text/plain; charset=utf-8")]
    guard
      let request = TransferRequest.post(
        url, json: Array((ToldJob(inDocument: callback.body)?.summary ?? "").utf8), fields: text)
    else {
      throw Failure(.engineBug, "a field of a ping is not valid")
    }
    return try send(request, secrets, term)
  }

  private func send(
    _ request: TransferRequest, _ secrets: [String], _ term: Term
  ) throws(Failure) -> DeliveryEnd {
    var request = request
    request.limits = RequestLimits(
      connectMs: 10_000, stallMs: 0, totalMs: try term.leftMs(), maxReplyBytes: DeliveryEnd.outputBytes)
    let transport = try connected()
    let id = ExchangeID(
      rawValue: numbers.withLock { number in
        number += 1
        return number
      })
    let replies = Mailbox<TransferReply>()
    transport.start(id, request) { replies.put($0) }
    while true {
      if let reply = replies.take(timeoutMs: 100)?.first { return judged(reply, secrets, url: request.url) }
      if term.isOver() { transport.cancel(id) }
    }
  }

  private func judged(_ reply: TransferReply, _ secrets: [String], url: String) -> DeliveryEnd {
    if reply.isCancelled { return DeliveryEnd(.interrupted, message: "stopped while waiting for an answer") }
    let output = CallbackOutput.masked(reply.body, secrets, urls: [url])
    if reply.curlCode != 0 || reply.status == 0 {
      let message = reply.curlMessage.isEmpty ? "there was no answer" : reply.curlMessage
      return DeliveryEnd(.failed, message: message, output: output)
    }
    if (200..<300).contains(reply.status) { return DeliveryEnd(.ok, httpStatus: reply.status, output: output) }
    let cause =
      (300..<400).contains(reply.status) ? "the receiver redirects" : "the receiver refuses"
    var end = DeliveryEnd(
      .failed, httpStatus: reply.status, message: "\(cause): it answers \(reply.status)", output: output)
    end.retryAfterMs = reply.retryAfterMs(wallMs: clock.civilMs)
    // Standard Webhooks 1.0.0, "Disabling endpoints": 410 means that no more webhooks should be sent.
    end.isFinal = reply.status == 410
    return end
  }

  private func connected() throws(Failure) -> any Transport {
    if let carrier { return carrier }
    do throws(TransferError) {
      return try transport.withLock { held throws(TransferError) in
        if let held { return held }
        let made = try CurlTransport(
          CurlConfiguration(
            userAgent: "transfers/\(TransferClient.version)", caFile: CurlDestinations.trustedFile))
        held = made
        return made
      }
    } catch { throw Failure(.localIO, "\(error)") }
  }

  private func url(
    _ callback: DueCallback, _ secrets: inout [String], _ term: Term
  ) throws(Failure) -> String {
    guard let reference = SecretReference(callback.setting.target) else { return callback.setting.target }
    let url = try reference.read(limitMs: try term.leftMs(), isOver: term.isOver)
    secrets.append(url)
    guard Webhook.isURL(url) else { throw Failure(.authMissing, "\(reference) does not contain an http or https URL") }
    return url
  }

  private func secret(_ text: String, _ term: Term) throws(Failure) -> String {
    guard let reference = SecretReference(text) else { throw Failure(.authMissing, "the key is not a reference") }
    return try reference.read(limitMs: try term.leftMs(), isOver: term.isOver)
  }

  // MARK: - Documents

  /// The document to deliver: for a job as it was recorded, for a file or batch from its current rows.
  private func document(_ callback: DueCallback) throws(Failure) -> [UInt8] {
    if let body = callback.body { return Array(body.utf8) }
    do throws(TransferError) {
      let file = try callback.file.flatMap { file throws(TransferError) in
        try ledger.read { try $0.files([file.rawValue]).first }
      }
      let batch = try callback.batch.flatMap { batch throws(TransferError) in try row(batch) }
      guard file != nil || batch != nil else {
        throw TransferError(.bug, "deliver a callback", cause: "it has no subject")
      }
      let document = CallbackDocument(callback.setting.event, id: callback.key, file: file, batch: batch)
      return document.json(
        ReportHeader(store: StoreIdentity(path: ledger.path), generatedMs: clock.civilMs)
      ).dropLast()
    } catch { throw Failure(.localIO, "\(error)") }
  }
}

extension CallbackDelivery {
  private func row(_ batch: BatchID) throws(TransferError) -> BatchRow? {
    var filter = RowFilter()
    filter.batches = [batch.rawValue...batch.rawValue]
    return try ledger.read { [filter] in try $0.batches(filter, after: 0, limit: 1, withAttempts: false).first }
  }

  /// The settings of the batch that is reported, or of that of the file; nil for a job, and if they cannot be read.
  private func settings(_ callback: DueCallback) -> BatchSettings? {
    try? ledger.read { reader -> BatchSettings? in
      let batch = try callback.batch ?? callback.file.flatMap { try reader.files([$0.rawValue]).first?.batch }
      return try batch.flatMap { try reader.batchSettings($0) }
    }
  }
}
