"""A trained agent for others: a folder for the Hugging Face Hub, an ONNX file, a run of Weights & Biases."""
