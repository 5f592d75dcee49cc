package main

import (
	"context"
	"os/signal"
	"syscall"
)

// context ends when the user or the system wants the program to end. A lost
// terminal (SIGHUP) and SIGQUIT are treated alike, so that everything is put
// away: the runtime's own answer to SIGQUIT would leave the terminal raw.
func (p *process) context() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
}
