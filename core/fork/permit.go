package fork

import (
	"context"

	"ollimbot/core/agent"
	"ollimbot/core/policy"
)

// guard judges the calls of this run.
func (r *run) guard() *policy.Session {
	return r.m.o.Guard.Session(policy.Scope{
		Kind: policy.Background, Session: r.id,
		Rules: policy.Rules{Allowed: r.job.Allowed, Disallowed: r.job.Disallowed},
	})
}

// permissions are the hooks and the permission callback of this run.
func (r *run) permissions() (agent.Hooks, func(context.Context, agent.ToolUse) agent.Decision) {
	guard := r.guard()
	hooks := guard.Hooks(r.m.o.Commit)
	hooks.Stop = r.stopRule
	return hooks, guard.Permission
}
