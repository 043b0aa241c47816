"""Consoles for people, scripts, training and assistants: an HTTP and MCP server that owns them."""
