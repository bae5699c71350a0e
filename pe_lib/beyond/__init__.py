"""What is used besides the sinusoid, in NumPy: rotary positions, biases of scores."""
