"""The hosts of one user: found, declared, started when they are asked for, and unloaded."""
