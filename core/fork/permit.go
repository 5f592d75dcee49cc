package fork

import (
	"context"

	"ollimbot/core/agent"
	"ollimbot/core/policy"
)

// permissions are the hooks and the permission callback of this run. An engine
// allows by itself what its own reading of the patterns allows, and asks the
// callback for the rest only: so the hook, which sees every call, asks the same.
func (r *run) permissions() (agent.Hooks, func(context.Context, agent.ToolUse) agent.Decision) {
	permission := r.m.o.Guard.Permission(policy.Scope{
		Kind: policy.Background, Session: r.id,
		Rules: policy.Rules{Allowed: r.job.Allowed, Disallowed: r.job.Disallowed},
	})
	hooks := r.m.o.Guard.Hooks(r.m.o.Commit)
	guard := hooks.PreTool
	hooks.PreTool = func(ctx context.Context, u agent.ToolUse) agent.Decision {
		// The permission first: a file of the user's is read for calls only that
		// may be made.
		if d := permission(ctx, u); !d.Allow {
			return d
		}
		return guard(ctx, u)
	}
	hooks.Stop = r.stopRule
	return hooks, permission
}
