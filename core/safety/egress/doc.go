// Package egress is the only way out of a sandbox whose commands may reach some hosts: a proxy in
// the bot, which speaks HTTP, HTTP CONNECT and SOCKS5, and its counterpart inside the sandbox. It
// must not know what a sandbox is made of, nor which commands run in it.
//
// # The path of a connection
//
// A sandbox has its own, empty network. Inside it, Run listens on loopback and carries each
// connection as a stream over one link to the bot. Run inherits the link as a file descriptor,
// because a sandbox does not let processes create Unix sockets. The link is one end of a pair
// (Server.Pair) or, if the sandbox is started by a process that the bot did not start itself, a
// connection to the bot on loopback (Join). The bot resolves the name, checks the address, and
// connects to exactly the address that it has checked.
package egress
