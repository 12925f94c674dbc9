"""What is allowed in a cluster file and yet deserves a word."""
