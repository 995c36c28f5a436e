"""Theory against simulation, point by point: `make conformance` writes `measured/`."""
