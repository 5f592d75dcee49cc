package fork

import (
	"context"
	"fmt"

	"ollimbot/core/agent"
	"ollimbot/core/policy"
	"ollimbot/core/tail"
)

// permissions are the hooks and the permission callback of this run.
func (r *run) permissions() (agent.Hooks, func(context.Context, agent.ToolUse) agent.Decision) {
	hooks := r.guard.Hooks(r.m.o.Commit)
	hooks.Stop = r.stopRule
	return hooks, r.guard.Permission
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
