// Package laws holds the architecture as tests: which package may import
// which other one and which outside library, what no program may link, and
// which names no file may carry. It has no code of its own.
package laws
