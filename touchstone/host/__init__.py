"""Door: this machine."""
