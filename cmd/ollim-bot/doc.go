// Package main is the command line of ollim-bot: the tree of commands, the
// wiring of the parts, and the only code that prints plain lines to a terminal. A command reads the data directory through core and its packages; no rule of
// the bot is decided here.
//
// Exit status: 0 done, 1 failed, 2 wrong usage. Answers go to standard output; errors go
// to standard error and name the cure.
//
// A command builds only its own branch of the command tree. Memory: see leanMemory.
package main
