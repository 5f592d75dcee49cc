// Package login logs in at MCP servers over HTTP that require it, with OAuth 2.1 as in
// the protocol: the server names its authorization server (RFC 9728), which describes
// itself (RFC 8414) and registers the bot (RFC 7591); the user agrees in a browser, which
// returns a code (RFC 6749, with PKCE, RFC 7636). The package stores the tokens and
// renews them. It must not know sessions, tools or the state of a server.
//
// Everything a server says here is treated as hostile: it may name addresses of this
// machine or network, redirect, or answer endlessly or not at all. Tokens are sent only
// to the server for which the user has logged in.
package login
