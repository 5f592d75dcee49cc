package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// How long WithLock waits for another process, and how often it tries.
const (
	turnPatience = 10 * time.Second
	turnPoll     = 2 * time.Millisecond
)

// turns are the locks of WithLock within this process, one per name.
type turns struct {
	mu     sync.Mutex
	byName map[string]*sync.Mutex
}

func (t *turns) of(name string) *sync.Mutex {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byName == nil {
		t.byName = map[string]*sync.Mutex{}
	}
	if t.byName[name] == nil {
		t.byName[name] = &sync.Mutex{}
	}
	return t.byName[name]
}

// WithLock runs fn while no other goroutine or process runs one under the same name, for
// read-modify-write of a file. It waits up to 10 seconds for another process. It is not reentrant.
// Its locks are held during fn's I/O because they serialize that I/O.
func (d *Dir) WithLock(name string, fn func() error) error {
	if strings.ContainsAny(name, `/\`) || name == "" {
		return fmt.Errorf("lock %q: the name of a lock must be one plain word", name)
	}
	turn := d.turns.of(name)
	turn.Lock()
	defer turn.Unlock()

	if err := d.makeFolder(d.Path(StateDir)); err != nil {
		return Advise("lock "+name, err)
	}
	l, err := fileLock(d.root, StateDir+"/."+name+".lock")
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
		return Advise("lock "+name, err)
	}
	defer func() { _ = l.Close() }() // closing a lock file cannot lose anything
	return fn()
}
