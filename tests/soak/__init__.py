"""Hosts, a bridge and runs of `ocr` as real processes, under every fault that can be made, for minutes.

`actors` do the harm: each is a thread that does one thing after another, drawn from random numbers of its own, so that
a seed brings back what each of them did. What must hold is asked at every step and written down in one `Ledger`.
"""
