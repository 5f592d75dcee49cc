package fork

import (
	"slices"
	"time"

	"ollimbot/core/post"
)

// collect notes a message that reached the user, so that a reply to it can be
// answered by this run's session.
func (r *run) collect(id post.MessageID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id != "" {
		r.messages = append(r.messages, id)
	}
}

// remember records the messages of a run that has succeeded: the
// session of one that failed is nothing to go on with. A message that is still
// on its way when the run ends is waited for.
func (r *run) remember() {
	if r.m.o.Messages == nil {
		return
	}
	patience := time.NewTimer(grace)
	defer patience.Stop()
	select {
	case r.gate <- struct{}{}:
		defer func() { <-r.gate }()
	case <-patience.C: // then it stays unknown, and a reply quotes it
	}
	r.mu.Lock()
	ids := slices.Clone(r.messages)
	v := r.view
	r.mu.Unlock()
	if len(ids) == 0 || v.Session == "" {
		return
	}
	parent := v.Parent
	if r.job.Task.Isolated {
		parent = ""
	}
	if err := r.m.o.Messages.Record(r.m.now(), ids, v.Session, parent); err != nil {
		r.m.log.Warn("messages of a background run were not recorded: replies will quote them", "run", r.id, "error", err)
	}
}
