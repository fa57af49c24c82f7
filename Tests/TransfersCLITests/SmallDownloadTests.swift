import Glibc
import Testing

@testable import TransfersCLI

/// The first request of a download also fetches the beginning of the file; of a small one there is no other.
@Suite struct SmallDownloadTests {
  @Test func theOnlyRequestOfADownloadIsMeasured() throws {
    let sent = try BuiltProgram()
    let receiver = try RunningReceiver(in: sent.folder)
    defer { withExtendedLifetime(receiver) {} }
    let (folder, store) = (sent.folder.path, sent.folder.path + "/p.db")
    try writeFile(folder + "/f", Array("content".utf8))
    mkdir(folder + "/in", 0o700)
    let pushed = try sent.run("push", folder + "/f", receiver.url + "/in/", "--store", folder + "/u.db")
    #expect(pushed.code == 0, "\(pushed.err)")
    let pulled = try sent.run("pull", receiver.url + "/in/f", folder + "/in", "--store", store)
    #expect(pulled.code == 0, "\(pulled.err)")
    let latency = try sent.run("report", "latency", "--store", store, "--format", "tsv", "--columns", "measure,n")
    #expect(
      latency.out.split(separator: "\n").dropFirst() == [
        "chunk.ack\t1", "attempt\t1", "file.wall\t1", "batch.wall\t1",
      ],
      "\(latency.out)\(latency.err)")
    let summary = try sent.run("report", "summary", "--store", store, "--format", "tsv")
    #expect(summary.out.contains("part_latency.n\t1\n"), "\(summary.out)\(summary.err)")
    let limit = ["report", "batches", "--fail-on", "p95_ms>1h", "--store", store]
    let limited = try sent.run(limit.map { Array($0.utf8) })
    #expect(limited.code == 0 && limited.out.hasPrefix("passed: --fail-on p95_ms>1h"), "\(limited.out)\(limited.err)")
    let objective = ["report", "latency", "--sla", "attempt<1h", "--fail-on", "sla", "--store", store]
    let judged = try sent.run(objective.map { Array($0.utf8) })
    #expect(judged.code == 0 && judged.out.hasPrefix("passed: --fail-on sla, and missed is 0"), "\(judged.out)")
  }
}
