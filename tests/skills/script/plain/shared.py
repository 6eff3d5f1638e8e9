ROOT = "from the root"
