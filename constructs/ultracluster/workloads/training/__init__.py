"""Training programs of the job files, shipped as package data. They import PyTorch; the library does not."""
