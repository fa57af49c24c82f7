print("transfers")
