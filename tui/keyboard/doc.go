// # Why not Bubble Tea's reader
//
// It decodes input in a goroutine that nothing recovers, and its decoder panics on 33 parameters
// in one sequence: 70 bytes from a read-only viewer ended the whole bot. This reader limits
// control sequences, drops what is not UTF-8, starts a new decoder after a panic, and can be
// stopped and woken at the end of a viewer.
package keyboard
