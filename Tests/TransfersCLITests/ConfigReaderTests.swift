import Glibc
import Testing

@testable import TransfersCLI

/// The pure reader, which turns bytes into a configuration and its errors.
@Suite struct ConfigReaderTests {
  private func read(_ text: String) -> (config: Config, faults: [ConfigFault]) {
    ConfigReader.read(Array(text.utf8), file: "c.yaml", home: "/home/u")
  }

  private func faults(_ text: String) -> [String] { read(text).faults.map { "\($0.place): \($0.message)" } }

  @Test func theExampleIsRight() {
    let (config, faults) = read(ConfigExample.text)
    #expect(faults.isEmpty, "\(faults)")
    #expect(config.jobs.keys.sorted() == ["logs", "nightly", "reference"])
    #expect(config.destinations["archive"]?["workers"]?.values == ["8"])
  }

  @Test func nothingButCommentsSaysNothing() {
    #expect(faults("").isEmpty)
    #expect(faults("# one\n\n  # two\n").isEmpty)
  }

  /// An endless stream of zeros or a terminal is not a configuration, even through a link.
  @Test func onlyTheNullDeviceStandsForNone() throws {
    let folder = try TemporaryFolder()
    for device in ["/dev/zero", "/dev/full", "/dev/tty"] {
      let link = folder.path + device.replacing("/dev", with: "")
      #expect(symlink(device, link) == 0)
      #expect(throws: CommandFailure.self) { try ConfigFiles.contents(.init(path: link, origin: "--config")) }
    }
    #expect(try ConfigFiles.contents(.init(path: "/dev/null", origin: "--config")) == [])
  }

  @Test func pathsBelowTheHomeFolderAreWhole() {
    let job = read("jobs: {nightly: {from: [~/out, /data], to: 'https://h/'}}").config.jobs["nightly"]
    #expect(job?["from"]?.values == ["/home/u/out", "/data"])
    let moving = read("jobs: {nightly: {from: /data, to: 'https://h/', after: 'move:~/sent'}}").config.jobs["nightly"]
    #expect(moving?["after"]?.values == ["move:/home/u/sent"])
  }

  @Test(arguments: [
    ("jobz: {}", "c.yaml:1:1: unknown key \"jobz\"; did you mean \"jobs\"?"),
    ("defaults:\n  wrokers: 3", "c.yaml:2:3: unknown key \"wrokers\"; did you mean \"workers\"?"),
    (
      "destinations: {box: {url: 's3://bucket/', part-size: 5M}}",
      "c.yaml:1:43: unknown key \"part-size\"; did you mean \"part_size\"?"
    ),
    ("destinations: {x: {url: 's3://bucket/'}}", "c.yaml:1:16: invalid name \"x\""),
    ("destinations: {s3: {url: 's3://bucket/'}}", "c.yaml:1:16: \"s3\" is the scheme of a URL"),
    ("destinations: {box: {workers: 3}}", "c.yaml:1:16: destination \"box\" needs \"url\""),
    ("destinations: {box: {url: 'https://u:p@h/'}}", "c.yaml:1:27: a URL must not contain credentials"),
    ("destinations: {box: {url: 'https://h/{dat}/'}}", "c.yaml:1:27: unknown field \"{dat}\""),
    ("destinations: {box: {url: 's3://bucket/', path_style: 1}}", "c.yaml:1:55: \"path_style\" takes true or false"),
    ("jobs: {nightly: {from: out, to: box}}", "c.yaml:1:24: \"out\" is relative"),
    ("jobs: {nightly: {from: /a, to: box, after: 'move:sent'}}", "c.yaml:1:44: \"sent\" is relative"),
    (
      "jobs: {nightly: {from: ['s3://b/x'], to: box}}",
      "c.yaml:1:25: \"s3://b/x\" is a URL; add \"direction: download\""
    ),
    ("jobs: {nightly: {from: /a, to: box, if_locked: maybe}}", "c.yaml:1:48: \"if_locked\" takes skip, wait, fail"),
    ("jobs: {nightly: {from: /a, to: box, labels: [a]}}", "c.yaml:1:45: \"labels\" takes a map of texts"),
    ("jobs: {nightly: {from: /a, to: box, dry_run: true}}", "c.yaml:1:37: unknown key \"dry_run\""),
    ("jobs: []", "c.yaml:1:7: jobs must be a map"),
    ("jobs: {}\njobs: {}", "c.yaml:2:1: the key \"jobs\" is duplicated"),
    ("jobs: &a {}\ndefaults: *b", "c.yaml:2:11: there is no anchor"),
    ("[1", "c.yaml:"),
  ])
  func whatIsWrongIsNamed(_ text: String, _ fault: String) {
    let found = faults(text)
    #expect(found.contains { $0.hasPrefix(fault) }, "\(found)")
  }

  @Test func everythingIsSaidAtOnce() {
    #expect(faults("a: 1\nb: 2\ndefaults: {c: 3}").count == 3)
  }

  @Test func depthAndSizeAreBounded() {
    let deep = String(repeating: "[", count: 1_000) + String(repeating: "]", count: 1_000)
    #expect(faults("jobs: " + deep).first?.contains("deeper than 32 levels") == true)
    #expect(faults("# " + String(repeating: "x", count: 2 << 20) + "\na: 1").first?.contains("may have") == true)
    var aliases = "a: &a0 [1]\n"
    for n in 1...20 { aliases += "b\(n): &a\(n) [*a\(n - 1), *a\(n - 1), *a\(n - 1), *a\(n - 1)]\n" }
    #expect(faults(aliases).first?.contains("aliases") == true)
  }

  @Test func theFileOfTheUserWinsAsAWhole() {
    var user = read("destinations: {box: {url: 'https://mine/'}}\ndefaults: {rate: 1M}").config
    user.fill(
      from: read("destinations: {box: {url: 'https://theirs/', workers: 3}}\ndefaults: {rate: 2M, workers: 4}").config)
    #expect(user.destinations["box"]?.settings.map(\.key) == ["url"])
    #expect(user.defaults["rate"]?.value == "1M")
    #expect(user.defaults["workers"]?.value == "4")
  }

  @Test func aPathStandsBehindTheURLOrInItsTemplate() throws {
    #expect(try ConfigURL.joined("s3://b/in/", "a/b") == "s3://b/in/a/b")
    #expect(try ConfigURL.joined("https://h/in", "a") == "https://h/in/a")
    #expect(try ConfigURL.joined("https://h/{path}?k=v", "a") == "https://h/a/{path}?k=v")
    #expect(try ConfigURL.joined("https://h/in?k=v", "a") == "https://h/in/a?k=v")
    #expect(try ConfigURL.joined("https://h?k=v/", "a") == "https://h/a?k=v/")
    for bad in ["../a", "a/../b", "/a", "a?b", "a#b", "{path}"] {
      #expect(throws: CommandFailure.self, "\(bad)") { try ConfigURL.joined("https://h/", bad) }
    }
  }

  @Test func fieldsAreFilledAndCannotChangeAURL() throws {
    var fields = ConfigFields(wallMs: 1_795_503_600_000)
    (fields.job, fields.labels) = ("nightly", ["run": "42", "up": "..", "q": "a?b"])
    #expect(try fields.fill("https://h/{job}/{date}/{label.run}/{path}") == "https://h/nightly/2026-11-24/42/{path}")
    #expect(try fields.fill("{year}{month}{day}") == "20261124")
    for bad in ["{label.up}", "{label.q}", "{label.none}", "{batch}"] {
      #expect(throws: CommandFailure.self, "\(bad)") { try fields.fill(bad) }
    }
  }
}
