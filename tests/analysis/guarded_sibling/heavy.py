import sentence_transformers

MODEL = sentence_transformers.SentenceTransformer("all-MiniLM-L6-v2")


def embed(text):
    return MODEL.encode(text).tolist()
