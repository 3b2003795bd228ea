// Package viewer holds the words of the product: what a machine is
// ([Target]), what a live connection to one can do ([Session] and its optional
// abilities), what is sent to it ([Input]), what it reports ([Event]), how it
// asks a person ([Asker]), and how it fails ([Error]).
//
// It does no work of its own. Drivers implement these words, the engine and
// the control plane use them; neither needs to know the other.
package viewer
