package audit

import "context"

// Who decides.
const (
	User  = "user"
	Agent = "agent"
	Bot   = "bot"
)

// Origin is who asks for something, and from where: a surface ("Discord",
// "dashboard", "command line") or the session of an agent ("main session",
// "run 1a2b3c4d").
type Origin struct{ Actor, From string }

// originKey is the key of the Origin in a context.
type originKey struct{}

// With notes in a context who asks for what is done under it.
func With(ctx context.Context, actor, from string) context.Context {
	return context.WithValue(ctx, originKey{}, Origin{Actor: actor, From: from})
}

// OriginOf is who asks. Where nobody has said it, it is the user.
func OriginOf(ctx context.Context) Origin {
	if o, ok := ctx.Value(originKey{}).(Origin); ok {
		return o
	}
	return Origin{Actor: User}
}
