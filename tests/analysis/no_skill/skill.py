def execute(params):
    return {"text": params["text"].upper()}
