"""The readers as pydantic types, each with the JSON schema of what it takes."""
