import time

LOADED_AT = time.time()
