"""Files as pages: what they show and what they say of themselves."""
