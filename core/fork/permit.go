package fork

import (
	"fmt"

	"ollimbot/core/agent"
	"ollimbot/core/policy"
	"ollimbot/core/tail"
)

// permit gives a session the hooks of this run, its permission callback and its
// commands.
func (r *run) permit(o *agent.SessionOptions) {
	o.Hooks = r.guard.Hooks(r.m.o.Commit)
	o.Hooks.Stop = r.stopRule
	o.Permission = r.guard.Permission
	o.Command = r.guard.Command(r.m.o.Commands)
}

// makeGuard is the guard of a run, which knows what it has read.
func (r *run) makeGuard() *policy.Session {
	taint := &policy.Taint{}
	if r.job.Tainted != "" {
		taint = policy.NewTaint(r.job.Tainted)
	}
	taint.Trusted, taint.Changed = r.job.Trusted, r.tainted
	return r.m.o.Guard.Session(policy.Scope{
		Kind: policy.Background, Session: r.id, Taint: taint,
		Rules: policy.Rules{Allowed: r.job.Allowed, Disallowed: r.job.Disallowed},
	})
}

// tainted shows that the run reads what strangers write.
func (r *run) tainted(why string) {
	r.update(func(v *View) { v.Tainted, v.Trusted = why, r.job.Trusted })
	text := textTainted
	if r.job.Trusted {
		text = textTrusted
	}
	r.line(tail.Note, fmt.Sprintf(text, why))
}
