"""The compiled Markov kernel under watch."""
