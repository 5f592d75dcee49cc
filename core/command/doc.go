// Package command defines the bot's commands: the values accepted by Bot.Do, their
// outcomes, the table of named commands for plain mode, Discord and the command line, lines of the
// command line that any surface may have the bot carry out (Line), and
// the bot's reports. It carries out "/" commands and changes of the budget, and computes
// the cost report; the bot does the rest. It must not know a screen or Discord.
//
// # One table
//
// Every named command is one row of Table, with its name, its arguments by kind, its help,
// what it changes and where it is. All surfaces are made from the rows: the command line
// with its help, completion, manual page and docs/cli.md, lines of plain mode, the palette,
// lines that begin with /, Discord's commands with their fields and suggestions, and the
// subset that the agent may call. Without its row, a command does not exist.
//
// Most acts are a value for the bot. Their rows have Make, which returns the value for what
// Read has read, and need no code elsewhere. The others, such as lists, print; the command
// line has a type for each with the name of its row, plain mode a handler where it can say
// more than the command line, and the conversation a function of Host in the row itself.
// Those cannot be in the table, because what they need (a terminal, a sandbox, a screen's
// numbers) belongs to the surface.
//
// A line that begins with / goes to Bot.Do from every surface, and the reply is a
// text that the surface renders. The engine never sees it.
package command
