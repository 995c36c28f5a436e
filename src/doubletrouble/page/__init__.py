"""The live page: sliders, curves, simulation and advice in a browser."""
