import TransferModel
import Transfers

/// `quota: 200GiB/day` of a job.
enum JobQuotaText {
  /// nil for a job without one.
  /// - Throws: the error, with its position.
  static func quota(_ job: ConfigSection) throws(ScheduleFault) -> JobQuota? {
    guard let setting = job["quota"] else { return nil }
    let parts = setting.value.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let bytes = ByteQuantity(argument: parts[0]),
      let period = CalendarPeriod(rawValue: parts[1])
    else {
      let message = "\"quota\" takes bytes a day, week or month, like 200GiB/day"
      throw ScheduleFault(ConfigFault(place: setting.place, message: message))
    }
    return JobQuota(bytes: bytes.bytes, per: period)
  }
}
