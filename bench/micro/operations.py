OPS = 1000  # operations in one loop
