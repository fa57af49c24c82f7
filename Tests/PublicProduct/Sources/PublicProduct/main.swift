// PublicProduct STORE SOURCE URL TOKEN FOLDER: calls every method of `TransferClient` against a receiver that requires
// the token and loses the answers to forms, fetches into the folder, and exits with 0 if everything worked as
// documented.

import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

let words = CommandLine.arguments
guard words.count == 6 else { fatalError("usage: PublicProduct STORE SOURCE URL TOKEN FOLDER") }
do {
  let trial = Trial(
    store: words[1], source: words[2], url: words[3], folder: words[5], tokens: TokenShop(valid: words[4]))
  try await trial.sendsWithProgress()
  try await trial.controls()
  try await trial.reports()
  try await trial.continuesEvents()
  try await trial.tellsErrorsByCode()
  try await trial.fetches()
  try await trial.verifies()
  try await trial.decides()
  try await trial.removes()
  try await trial.followsNewEvents()
  try await trial.merges()
  print("ok")
} catch {
  print("failed: \(error)")
  exit(1)
}
