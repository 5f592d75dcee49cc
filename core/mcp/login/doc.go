// Package login logs in at MCP servers over HTTP that ask for it, with OAuth 2.1 as the
// protocol describes it: the server names its authorization server (RFC 9728), which describes
// itself (RFC 8414) and registers the bot (RFC 7591); the user says yes in a browser, which
// brings a code back (RFC 6749, with PKCE, RFC 7636). It keeps the tokens and renews them. It
// must not know sessions, tools or the state of a server.
//
// Everything that a server says here is taken for hostile: it may name addresses of this
// machine or network, redirect, answer without end or not at all. Tokens are sent to the server
// for which the user has logged in and to nobody else.
package login
