package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// How long Exclusive waits for another process, and how often it looks.
const (
	turnPatience = 10 * time.Second
	turnPoll     = 2 * time.Millisecond
)

// Exclusive runs fn while no other goroutine and no other process runs one
// under the same name: for reading a file, changing it and writing it back. It
// waits at most 10 seconds for another process. Not reentrant. Its locks are
// held over fn's I/O because ordering that I/O is what they are for.
func (d *Dir) Exclusive(name string, fn func() error) error {
	if strings.ContainsAny(name, `/\`) || name == "" {
		return fmt.Errorf("lock %q: the name of a lock is one plain word", name)
	}
	turn := d.turn(name)
	turn.Lock()
	defer turn.Unlock()

	if err := d.makeFolder(d.Path(StateDir)); err != nil {
		return advise("lock "+name, err)
	}
	l, err := d.lockOf(StateDir + "/." + name + ".lock")
	if err != nil {
		return err
	}
	got, err := l.TryLock()
	if err == nil && !got {
		ctx, cancel := context.WithTimeout(context.Background(), turnPatience)
		defer cancel()
		got, err = l.TryLockContext(ctx, turnPoll)
	}
	if errors.Is(err, context.DeadlineExceeded) || err == nil && !got {
		return fmt.Errorf(msgTurn, name, turnPatience)
	}
	if err != nil {
		return advise("lock "+name, err)
	}
	defer func() { _ = l.Close() }() // closing a lock file cannot lose anything
	return fn()
}

// turn is the lock within this process.
func (d *Dir) turn(name string) *sync.Mutex {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.turns[name] == nil {
		d.turns[name] = &sync.Mutex{}
	}
	return d.turns[name]
}
