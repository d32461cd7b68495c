"""Front door: one small file per verb."""
