"""Door: where pull requests live."""
