"""Images to train networks on, as two classes, and arrays of one's own; `dt.load_data` loads."""
