raise RuntimeError("Skillware's loader does not run this")
