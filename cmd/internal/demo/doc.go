// Package demo is a living example: the data directory of a user of one month, and a
// driver that acts as that user while a real bot runs. Only the model is not real. It gives commands and saves files as
// anybody may; it must not know the dashboard or the command line.
//
// # Nothing is staged
//
// The demo is a bot on a temporary directory, with a driver that saves files and gives commands
// as a user and the hours would. All that its screen shows has happened, and a test checks it by
// running it.
package demo
