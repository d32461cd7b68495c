"""Room: what is asked. A pack is data: schema, strict loading, hashes."""
