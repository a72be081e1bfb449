def judges(root):
    return {}
