print("transfers-receiver")
