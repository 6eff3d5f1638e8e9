import torch

def describe(image):
    return {"tensor": str(torch.tensor(image))}
