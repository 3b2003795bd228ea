// Package plane is the one authority over what is done to a session: the
// agents attached to this process, what each may do and has seen, the wheel of
// every limb, and the handler of every tool.
//
// Both sides come here. An agent holds an [Attachment] and calls tools; a
// person's window holds a [Pane] and gives it every key and click. Nothing
// else sends input to a session, so that what one side is told about who
// drives is always what the other side meets.
//
// The plane serves no socket and draws nothing; it knows the engine and the
// words of control, and no driver.
package plane
