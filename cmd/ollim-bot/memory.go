package main

import "runtime/debug"

// leanMemory tells the garbage collector that memory is dearer than time: a bot
// without a dashboard does a little each minute and waits.
func leanMemory() { debug.SetGCPercent(50) }
