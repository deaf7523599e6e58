"""What a host can hold: the interface of a model, the registry, and one module or folder for each kind."""
