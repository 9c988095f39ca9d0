"""Compares what programs compute with Transformers: what `axon verify` and the parity tests share."""
