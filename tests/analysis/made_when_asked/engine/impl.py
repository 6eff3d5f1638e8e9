import onnxruntime


class Engine:
    def device(self):
        return onnxruntime.get_device()
