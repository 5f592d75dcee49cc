// # One table
//
// Everything that can be asked for by name is a row of one table: plain mode, lines that begin
// with /, Discord's commands, the command line with its help, and the part of it that the agent
// may call. A line that begins with / goes to Bot.Do from every surface, and the reply is a text
// that the surface renders. The engine never sees it.
package command
