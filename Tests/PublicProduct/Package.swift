// swift-tools-version: 6.2
import PackageDescription

// A third-party program: it sees only the public product of the package. tools/test.d/library builds and runs it.
let package = Package(
  name: "public-product",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "transfers", path: "../..")],
  targets: [
    .executableTarget(
      name: "PublicProduct", dependencies: [.product(name: "Transfers", package: "transfers")],
      swiftSettings: [
        .swiftLanguageMode(.v6), .treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny"),
      ])
  ]
)
