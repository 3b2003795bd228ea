// Package prompt is the shell of a sample machine: a command line with
// pipelines and redirection, a line editor, and a small set of commands over
// the files of a [tree.Tree]. Nothing of it touches the system.
//
// A Shell is one login. Its commands are run by the goroutine that calls Run
// or Interact; a Terminal may be fed from another.
package prompt
