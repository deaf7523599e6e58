"""Tables: found by ruling lines, by level rules, or by how texts line up."""
