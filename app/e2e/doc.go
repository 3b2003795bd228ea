// Package e2e proves the whole product from outside: the programs as they are
// built, a real window under Xvfb with a window manager, driven by xdotool, real
// VNC servers, and an agent that speaks MCP. It has no code of its own.
package e2e
