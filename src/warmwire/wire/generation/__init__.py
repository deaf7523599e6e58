"""The generation wire: frames, messages, requests and answers."""
