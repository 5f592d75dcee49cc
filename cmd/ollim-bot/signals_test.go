package main

import (
	"syscall"
	"testing"
	"time"
)

func TestEverySignalOfAnEndLetsTheProgramPutThingsAway(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		ctx, stop := (&process{}).context()
		if err := syscall.Kill(syscall.Getpid(), sig); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
			t.Errorf("%s does not end the program", sig)
		}
		stop()
	}
}
