class Engine:
    def __init__(self):
        self.model = None

    def detect(self, image):
        import mediapipe

        return {"found": str(mediapipe.Image(image))}
