// Package mcpbridge serves the desk tools to MCP clients.
//
// The methods, revisions and result decoration are mcp-go's
// (MCPServer.HandleMessage); the transport around it is ours: it keeps ids as
// the bytes they came in, runs calls side by side within a bound, cancels by
// the client's id, answers what was sent before the end of the stream, and
// copies a picture's base64 into the reply as it is. No type of mcp-go is seen
// outside, and no tool is carried out here: a [Backend] does, and none is
// opened before the first call of a tool.
package mcpbridge
