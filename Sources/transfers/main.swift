import TransfersCLI

Program.main()
