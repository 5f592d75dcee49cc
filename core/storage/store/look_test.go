package store

import (
	"testing"

	"ollimbot/core/base/testkit"
)

func TestAskingKeepsNoBotFromStarting(t *testing.T) {
	d := prepared(t)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				d.Running()
			}
		}
	}()
	for range 30 {
		unlock, err := d.Lock()
		testkit.Must(t, err)
		testkit.Must(t, unlock())
	}
	close(stop)
	<-done
	if pid, ok := d.Running(); ok || pid != 0 {
		t.Errorf("running: %d, %v", pid, ok)
	}
}
