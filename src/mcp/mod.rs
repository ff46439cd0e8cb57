//! The MCP server on stdio.
