// # Nothing is staged
//
// The demo is a bot on a temporary directory, with a driver that saves files and gives commands
// as a user and the hours would. All that its screen shows has happened, and a test checks it by
// running it.
package demo
