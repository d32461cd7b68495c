"""Door: the model server. The only engine-aware room."""
