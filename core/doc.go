// Package core is the bot.
package core
