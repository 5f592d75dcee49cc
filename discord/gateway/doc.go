// # Why not discordgo's session
//
// It cannot be told to wait after an invalid session, sends its first heartbeat at once, takes
// five intervals to notice a dead connection, ignores the address for resuming, and waits for
// itself forever when Discord asks it to reconnect at the wrong moment. This connection is one
// loop over packets, heartbeats and time. The library provides types and constants.
package gateway
