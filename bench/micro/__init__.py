"""Micro-benchmarks by part of the core: `pytest bench --benchmark-only`."""
