// The room TransferReports.
