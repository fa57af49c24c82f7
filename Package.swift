// swift-tools-version: 6.2
import PackageDescription

// The targets in which a fault is planted to see a test fail (tools/mutants): it may leave code that is never executed.
let planted = (Context.environment["TRANSFERS_PLANTED"] ?? "").split(separator: " ").map(String.init)

func strict(_ target: String) -> [SwiftSetting] {
  [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: planted.contains(target) ? .warning : .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ]
}

let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let argumentParser: Target.Dependency = .product(
  name: "ArgumentParser", package: "swift-argument-parser")

/// What is shipped has Swift's run time in it: it starts sooner, and where no Swift is. The two archives are those that
/// FoundationEssentials asks for only when sources are compiled with `-static-stdlib` too. Nobody looks up functions of
/// the program by name. LLD comes with the toolchain, and has no warning about what Foundation calls.
let shipped: [LinkerSetting] = [
  .unsafeFlags(
    [
      "-static-stdlib", "-l_FoundationCollections", "-l_FoundationCShims", "-use-ld=lld", "-Xlinker",
      "--no-export-dynamic",
    ], .when(platforms: [.linux], configuration: .release))
]

/// Linking the tests takes a third of the time with LLD, once for each fault that tools/mutants plants.
let tested: [LinkerSetting] = [.unsafeFlags(["-use-ld=lld"], .when(platforms: [.linux], configuration: .debug))]

func room(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict(name))
}

/// Each job of the compiler reads what its files import and mention: larger batches of files mean less of that twice.
let inLargeBatches: [SwiftSetting] = [
  .unsafeFlags(["-driver-batch-size-limit", "200"], .when(configuration: .debug))
]

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(
    name: name, dependencies: dependencies + ["TransferTestSupport"],
    swiftSettings: strict(name) + inLargeBatches, linkerSettings: tested)
}

let package = Package(
  name: "transfers",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "transfers", targets: ["transfers"]),
    .executable(name: "transfers-receiver", targets: ["transfers-receiver"]),
    .library(name: "Transfers", targets: ["Transfers"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
  ],
  targets: [
    // The targets, top to bottom. An arrow points only downwards; RepositoryTests compares this list with the imports.
    .executableTarget(
      name: "transfers", dependencies: ["TransfersCLI"], swiftSettings: strict("transfers"), linkerSettings: shipped),
    room(
      "TransfersCLI", ["Transfers", "TransferReports", "HTTPServer", "StrictYAML", "TransferModel", argumentParser]),
    // Its surface shows the model, the reports and what it declares itself: every other import is internal.
    .target(
      name: "Transfers",
      dependencies: [
        "TransferEngine", "TransferProtocols", "TransferReports", "TransferLedger", "CurlTransport", "CScripts",
        "CSys", "TransferModel",
      ], swiftSettings: strict("Transfers") + [.enableUpcomingFeature("InternalImportsByDefault")]),
    room("TransferReports", ["TransferModel"]),
    room("HTTPServer", ["TransferModel"]),
    room(
      "TransferEngine", ["TransferLedger", "TransferProtocols", "CSys", "CDigest", "CZlib", "TransferModel", httpTypes]),
    room("TransferProtocols", ["CDigest", "CProfiles", "StrictYAML", "TransferModel", httpTypes]),
    room("CurlTransport", ["CCurl", "CSys", "TransferModel", httpTypes]),
    room("TransferLedger", ["CSQLite", "CMigrations", "CSys", "TransferLog", "TransferModel"]),
    room("TransferLog", ["CDigest", "TransferModel"]),
    room("StrictYAML", ["CYAML"]),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    // Takes types and constants from libcurl's header, and is not linked with it: it loads the library when it is
    // needed.
    .target(name: "CCurl", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .systemLibrary(
      name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"]), .brew(["libyaml"])]),
    .target(name: "CSys"),
    .target(name: "CDigest", linkerSettings: [.linkedLibrary("crypto")]),
    // Loads zlib when the first compressed file is read.
    .target(name: "CZlib", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .target(name: "CMigrations"),
    .target(name: "CProfiles"),
    .target(name: "CScripts"),
    room("TransferModel", [httpTypes]),
    .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"]), .brew(["openssl"])]),
    room("Receiver", ["CCrypto", "TransferModel"]),
    .executableTarget(
      name: "transfers-receiver", dependencies: ["Receiver", "TransferModel", argumentParser],
      swiftSettings: strict("transfers-receiver"), linkerSettings: shipped),

    // Not a part of the product: tools/bench measures the ledger with it.
    .executableTarget(
      name: "ledger-bench", dependencies: ["TransferLedger", "TransferModel"], path: "tools/benchmarks/ledger",
      swiftSettings: strict("ledger-bench")),

    // A simulated year of cron, for tools/cron-year and CronYearTests.
    .executableTarget(
      name: "CronYear", dependencies: ["CSQLite", "Transfers", "TransfersCLI", "TransferModel", httpTypes],
      path: "tools/cron/year", swiftSettings: strict("CronYear")),

    // What several targets of tests need.
    .target(
      name: "TransferTestSupport", path: "Tests/TransferTestSupport", swiftSettings: strict("TransferTestSupport")),

    tests("CDigestTests", ["CDigest"]),
    tests("CronYearTests", ["CronYear"]),
    tests("CurlTransportTests", ["CCurl", "CurlTransport", "TransferModel", httpTypes]),
    tests("HTTPServerTests", ["HTTPServer", "TransferModel"]),
    tests("ReceiverTests", ["Receiver", "TransferModel"]),
    tests(
      "TransferEngineTests", ["TransferEngine", "TransferLedger", "TransferModel", "TransferProtocols", httpTypes]),
    tests(
      "TransferIntegrationTests",
      ["CDigest", "Receiver", "TransferEngine", "TransferLedger", "TransferModel", "TransferProtocols", "Transfers"]),
    tests("TransferLedgerTests", ["CMigrations", "CSQLite", "TransferLedger", "TransferLog", "TransferModel"]),
    tests("TransferLogTests", ["TransferLog", "TransferModel"]),
    tests("TransferModelTests", ["TransferModel", httpTypes]),
    tests("RepositoryTests", ["TransfersCLI", "Transfers", "TransferModel", argumentParser]),
    tests("StrictYAMLTests", ["StrictYAML"]),
    tests("TransferProtocolsTests", ["CDigest", "StrictYAML", "TransferModel", "TransferProtocols", httpTypes]),
    tests("TransferReportsTests", ["CDigest", "TransferReports", "TransferModel"]),
    // They run the built programs, which the dependencies make sure are there.
    tests(
      "TransfersCLITests",
      [
        "transfers", "transfers-receiver", "TransfersCLI", "Transfers", "TransferReports", "TransferLedger",
        "HTTPServer", "TransferModel",
      ]),
  ]
)
