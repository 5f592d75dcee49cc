// Package command defines the bot's commands: the values accepted by Bot.Do, their
// outcomes, the table of named commands for plain mode, Discord and the command line, lines of the
// command line that any surface may have the bot carry out (Line), and
// the bot's reports. It carries out "/" commands and changes of the budget, and computes
// the cost report; the bot does the rest. It must not know a screen or Discord.
//
// # One table
//
// Every named command is a row of one table: plain mode, lines that begin with /,
// Discord's commands, the command line with its help, and the subset that the agent may
// call. A line that begins with / goes to Bot.Do from every surface, and the reply is a
// text that the surface renders. The engine never sees it.
package command
