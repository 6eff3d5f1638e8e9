from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def __init__(self, config=None):
        super().__init__(config)
        from faster_whisper import WhisperModel

        self.model = WhisperModel("tiny")

    def execute(self, params):
        return {"text": list(self.model.transcribe(params["path"]))}
