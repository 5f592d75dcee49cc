// Package command defines the bot's commands: the values that Bot.Do takes, their
// outcomes, and the table of named commands for plain mode, Discord and the command
// line; and the reports that the bot is read for. It carries out "/" commands and changes of
// the budget, and makes the report of costs; the bot does the rest. It must not know a screen or Discord.
//
// # One table
//
// Everything that can be asked for by name is a row of one table: plain mode, lines that begin
// with /, Discord's commands, the command line with its help, and the part of it that the agent
// may call. A line that begins with / goes to Bot.Do from every surface, and the reply is a text
// that the surface renders. The engine never sees it.
package command
