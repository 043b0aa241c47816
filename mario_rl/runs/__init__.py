"""What a training run leaves on disk, and what people do with it: evaluate, watch, record, plot."""
