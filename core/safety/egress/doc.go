// Package egress is the only way out of a sandbox whose commands may reach some hosts: a
// proxy in the bot, which speaks HTTP, HTTP CONNECT and SOCKS5, and its end inside. It must
// not know what a sandbox is made of, nor which commands run in it.
//
// # The way of a connection
//
// A sandbox has a network of its own with nothing in it. Run, inside, listens there on
// loopback, and carries each connection as a stream of one link to the bot. The link is a
// descriptor that Run inherits, because a sandbox lets no process make a unix socket: one
// end of a pair (Server.Pair), or, where the sandbox is started by a process that the bot
// did not start itself, a connection to the bot on loopback (Join). The bot resolves the
// name, looks at the address, and connects to the very address that it has looked at.
package egress
