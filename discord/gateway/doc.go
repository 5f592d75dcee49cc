// Package gateway keeps the bot connected to Discord's gateway and hands out
// what happens there, in order.
//
// It owns the connection: opening it, noticing that it died, resuming or
// starting anew, the number of sessions that may be started, and the sentence
// that says why there is no connection. The protocol is spoken here, over a
// WebSocket; discordgo lends its types. Its session is not used: it cannot be told
// to wait before it starts anew, knows no limit of time, follows no address for
// resuming, and waits for itself for ever when Discord asks it to reconnect at the
// wrong moment.
//
// It must not know the bot, who its owner is, or how messages are sent. Of
// Discord's other API it knows one question, Options.Find.
//
// # Why not discordgo's session
//
// It cannot be told to wait after an invalid session, sends its first heartbeat at once, takes
// five intervals to notice a dead connection, ignores the address for resuming, and waits for
// itself forever when Discord asks it to reconnect at the wrong moment. This connection is one
// loop over packets, heartbeats and time. The library provides types and constants.
package gateway
