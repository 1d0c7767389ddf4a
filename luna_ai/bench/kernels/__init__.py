"""Kernels that measure the engine's parts, compiled in a folder of their own: they change more often than the engine.

Each works through recorded games or positions and returns a checksum, so that nothing it computes can be left out.
"""
