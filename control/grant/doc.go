// Package grant says what an agent may do, where, and until when.
//
// A [Grant] is flat and denies by default: it names capabilities one by one,
// with no hierarchy and no wildcard, and machines one by one. A bundle is a
// list of capabilities that is written out when a grant is issued and then
// forgotten. A grant cannot be changed after it was issued.
package grant
