// Package keyboard reads what a terminal sends: keys, the mouse, pastes and the
// terminal's answers. These bytes come from outside, from read-only viewers too: they are
// filtered first, and a fault in the decoder costs the bytes it was given and nothing
// else. The package must not know what the keys do.
//
// # Why not Bubble Tea's reader
//
// It decodes input in a goroutine that nothing recovers, and its decoder panics on 33 parameters
// in one sequence: 70 bytes from a read-only viewer ended the whole bot. This reader limits
// control sequences, drops what is not UTF-8, starts a new decoder after a panic, and can be
// stopped and woken at the end of a viewer.
package keyboard
