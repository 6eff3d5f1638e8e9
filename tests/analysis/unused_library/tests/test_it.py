import torch
import cv2


def test_nothing():
    assert torch and cv2
