package fake

// route is one row of the table. The segments are the path; a star stands for
// any one. Open ones need no bot token. A bucket names the limit that counts.
type route struct {
	method, segments string
	open             bool
	bucket           string
	check            func(*call) *answer
	handle           func(*Server, *call) answer
}

// Buckets of the limits.
const (
	bucketCreate = "create"
	bucketEdit   = "edit"
)

var routes = []route{
	{method: "GET", segments: "gateway", open: true, handle: (*Server).getGateway},
	{method: "GET", segments: "gateway/bot", handle: (*Server).getGatewayBot},
	{method: "GET", segments: "users/@me", handle: (*Server).getSelf},
	{method: "POST", segments: "users/@me/channels", handle: (*Server).openDM},
	{method: "GET", segments: "users/*", handle: (*Server).getUser},
	{method: "GET", segments: "applications/@me", handle: (*Server).getApplication},
	{method: "GET", segments: "oauth2/applications/@me", handle: (*Server).getApplication},
	{method: "GET", segments: "applications/*/commands", handle: (*Server).getCommands},
	{method: "PUT", segments: "applications/*/commands", handle: (*Server).putCommands},
	{method: "GET", segments: "channels/*", handle: (*Server).getChannel},
	{method: "POST", segments: "channels/*/typing", handle: (*Server).postTyping},
	{method: "GET", segments: "channels/*/messages", handle: (*Server).getMessages},
	{method: "POST", segments: "channels/*/messages", bucket: bucketCreate, check: checkCreate, handle: (*Server).postMessage},
	{method: "GET", segments: "channels/*/messages/*", handle: (*Server).getMessage},
	{method: "PATCH", segments: "channels/*/messages/*", bucket: bucketEdit, check: checkEdit, handle: (*Server).patchMessage},
	{method: "DELETE", segments: "channels/*/messages/*", handle: (*Server).deleteMessage},
	{method: "GET", segments: "channels/*/messages/*/reactions/*", handle: (*Server).getReactions},
	{method: "PUT", segments: "channels/*/messages/*/reactions/*/@me", handle: (*Server).putReaction},
	{method: "DELETE", segments: "channels/*/messages/*/reactions/*/@me", handle: (*Server).deleteReaction},
	{method: "POST", segments: "interactions/*/*/callback", open: true, check: checkCallback, handle: (*Server).postCallback},
	{method: "POST", segments: "webhooks/*/*", open: true, check: checkCreate, handle: (*Server).postFollowup},
	{method: "GET", segments: "webhooks/*/*/messages/*", open: true, handle: (*Server).getFollowup},
	{method: "PATCH", segments: "webhooks/*/*/messages/*", open: true, check: checkEdit, handle: (*Server).patchFollowup},
	{method: "DELETE", segments: "webhooks/*/*/messages/*", open: true, handle: (*Server).deleteFollowup},
}
