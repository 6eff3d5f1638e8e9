def divide(one, other):
    return one / other
