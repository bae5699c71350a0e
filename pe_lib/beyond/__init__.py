"""What is used beside the sinusoid, in NumPy: rotary positions, biases of scores."""
