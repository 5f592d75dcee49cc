package fork

import (
	"ollimbot/core/agent"
	"ollimbot/core/policy"
)

// permit gives a session the hooks of this run, its permission callback and its
// commands.
func (r *run) permit(o *agent.SessionOptions) {
	guard := r.guard()
	o.Hooks = guard.Hooks(r.m.o.Commit)
	o.Hooks.Stop = r.stopRule
	o.Permission = guard.Permission
	o.Command = guard.Command(r.m.o.Commands)
}

// guard judges the calls of this run.
func (r *run) guard() *policy.Session {
	return r.m.o.Guard.Session(policy.Scope{
		Kind: policy.Background, Session: r.id,
		Rules: policy.Rules{Allowed: r.job.Allowed, Disallowed: r.job.Disallowed},
	})
}
