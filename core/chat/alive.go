package chat

import (
	"context"
	"fmt"
	"time"
)

// How long nothing may be heard before the queue counts as stuck: of a turn, longer
// than a tool call takes, or a wait for the model; of any other job.
const (
	turnQuiet = time.Hour
	jobQuiet  = 10 * time.Minute
)

// Alive waits until the queue has taken a job for the sake of this question. Where a
// job is under way until ctx ends, it is enough that it has begun within ten minutes, or
// that its turn has said something within an hour. An error says what stands still.
func (c *Conversation) Alive(ctx context.Context) error {
	select {
	case <-c.ask():
		return nil
	case <-ctx.Done():
	}
	limit := jobQuiet
	if busy, _ := c.Busy(); busy {
		limit = turnQuiet
	}
	if quiet := time.Since(time.Unix(0, c.heard.Load())); quiet > limit {
		return fmt.Errorf("the conversation's queue stands still: nothing was heard of its job for %s", quiet.Round(time.Second))
	}
	return nil
}

// ask puts a job into the queue that closes the channel, unless one is there already:
// a long turn must not fill the queue with questions.
func (c *Conversation) ask() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.probe != nil {
		return c.probe
	}
	probe := make(chan struct{})
	job := func(context.Context) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.probe = nil
		close(probe)
		return nil
	}
	if c.later(job) == nil {
		c.probe = probe
	}
	return probe
}

// hear notes that the conversation goes on.
func (c *Conversation) hear() { c.heard.Store(time.Now().UnixNano()) }
