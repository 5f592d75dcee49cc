// Package demo is a live example: the data directory of a user after eight weeks, and a
// driver that acts as that user while a real bot runs. Only the model is simulated. It must
// not know the dashboard or the command line.
//
// # Nothing is staged
//
// The demo is a bot on a temporary directory. The driver only saves files and sends commands,
// as any user could. Everything on the screen really happens, and a test checks that by
// running the demo.
//
// # One past
//
// The weeks before the start are simulated in memory (past), event by event and by the program's own rules: cron
// lines determine fires, the bucket accepts or refuses each ping, the price table prices each turn. All files are
// written from this one past, so that they are consistent.
package demo
