package discordtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"
)

// route is one row of the table. The segments are the path; a star matches any segment. Open routes need no bot
// token. Counted routes have a limit per channel.
type route struct {
	method, segments string
	open, counted    bool
	check            func(*call) *Plan
	handle           func(*rest, *call) *Plan
}

// rest is the half of Discord that answers requests.
type rest struct {
	w        *world
	gateway  *gateway
	faults   *faults
	limits   *limiter
	contract *contract // nil: not checked
}

var routes = []route{
	{method: "GET", segments: "gateway", open: true, handle: (*rest).getGateway},
	{method: "GET", segments: "gateway/bot", handle: (*rest).getGatewayBot},
	{method: "GET", segments: "users/@me", handle: (*rest).getSelf},
	{method: "POST", segments: "users/@me/channels", handle: (*rest).openDM},
	{method: "GET", segments: "applications/@me", handle: (*rest).getApplication},
	{method: "GET", segments: "applications/*/commands", handle: (*rest).getCommands},
	{method: "PUT", segments: "applications/*/commands", handle: (*rest).putCommands},
	{method: "POST", segments: "channels/*/typing", handle: (*rest).postTyping},
	{method: "GET", segments: "channels/*/messages", handle: (*rest).getMessages},
	{method: "POST", segments: "channels/*/messages", counted: true, check: checkCreate, handle: (*rest).postMessage},
	{method: "GET", segments: "channels/*/messages/*", handle: on((*rest).target, (*rest).getMessage)},
	{method: "PATCH", segments: "channels/*/messages/*", counted: true, check: checkEdit, handle: on((*rest).target, (*rest).patchMessage)},
	{method: "DELETE", segments: "channels/*/messages/*", handle: on((*rest).target, (*rest).deleteMessage)},
	{method: "PUT", segments: "channels/*/messages/*/reactions/*/@me", handle: on((*rest).target, (*rest).putReaction)},
	{method: "DELETE", segments: "channels/*/messages/*/reactions/*/@me", handle: on((*rest).target, (*rest).deleteReaction)},
	{method: "POST", segments: "interactions/*/*/callback", open: true, check: checkCallback, handle: (*rest).postCallback},
	{method: "POST", segments: "webhooks/*/*", open: true, check: checkCreate, handle: (*rest).postFollowup},
	{method: "PATCH", segments: "webhooks/*/*/messages/*", open: true, check: checkEdit, handle: on((*rest).followup, (*rest).patchMessage)},
	{method: "DELETE", segments: "webhooks/*/*/messages/*", open: true, handle: on((*rest).followup, (*rest).deleteMessage)},
}

// on combines finding the message in a path and an action on it to a handler.
func on(find func(*rest, *call) (*Message, *Plan), do func(*rest, *call, *Message) *Plan) func(*rest, *call) *Plan {
	return func(s *rest, c *call) *Plan {
		m, refusal := find(s, c)
		if refusal != nil {
			return refusal
		}
		return do(s, c, m)
	}
}

// routeOf finds the row for a call. A call without a row is a violation: either no bot needs it, or the fake must
// implement it.
func routeOf(c *call) *route {
	for i, r := range routes {
		want := strings.Split(r.segments, "/")
		if r.method == c.method && slices.EqualFunc(want, c.seg, func(w, s string) bool { return w == "*" && s != "" || w == s }) {
			return &routes[i]
		}
	}
	c.problem("unknown route")
	return nil
}

// serve processes one request in the same steps as Discord, with a test's planned faults in between.
func (s *rest) serve(w http.ResponseWriter, r *http.Request) {
	c, a := readCall(r)
	rt := routeOf(c)
	f := s.faults.take(c.method, c.path)
	entry := s.w.arrive(c)
	before, after := f != nil && !f.AfterStored, f != nil && f.AfterStored
	if before && !s.faults.linger(r.Context(), f.plan) {
		return
	}
	switch {
	case before && f.plan.answers():
		if rt != nil {
			s.inspect(c, rt)
		}
		a = f.plan
	case rt == nil:
		a = respond(http.StatusNotFound, object{"message": "404: Not Found", "code": 0})
	case a == nil:
		a = s.process(c, rt)
	}
	if after && f.plan.answers() {
		a = f.plan
	}
	for _, p := range c.problems {
		s.w.violate("%s %s: %s\n\t%.600s", c.method, c.path, p, c.body)
	}
	s.w.decide(entry, a)
	if after && !s.faults.linger(r.Context(), f.plan) {
		return
	}
	a.deliver(w)
}

// process handles a request that no fault replaces: contract, token, limits,
// handler, and the contract of the answer.
func (s *rest) process(c *call, rt *route) *Plan {
	if refusal := s.inspect(c, rt); refusal != nil {
		return refusal
	}
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if !rt.open && c.header.Get("Authorization") != "Bot "+s.w.token {
		return unauthorized()
	}
	if refusal := s.limits.refuse(c, rt); refusal != nil {
		return refusal
	}
	a := rt.handle(s, c)
	s.limits.headers(c, rt, a)
	s.w.change()
	if s.contract != nil {
		if err := s.contract.checkAnswer(c, a); err != nil {
			c.problem("the fake's own answer: " + err.Error())
		}
	}
	return a
}

// inspect checks a request against the contract and returns the error that Discord would send, or nil.
func (s *rest) inspect(c *call, rt *route) *Plan {
	if !strings.HasPrefix(c.header.Get("User-Agent"), "DiscordBot") {
		c.problem("the User-Agent does not begin with DiscordBot")
	}
	if s.contract != nil {
		if err := s.contract.checkRequest(c); err != nil {
			c.problem(err.Error())
			return invalidForm("", err.Error())
		}
	}
	if rt.check == nil {
		return nil
	}
	return rt.check(c)
}

func (s *rest) getGateway(*call) *Plan { return ok(object{"url": s.gateway.ws}) }

func (s *rest) getGatewayBot(*call) *Plan {
	return ok(object{
		"url": s.gateway.ws, "shards": 1,
		"session_start_limit": object{
			"total": max(1000, s.gateway.startsLeft), "remaining": s.gateway.startsLeft, "reset_after": 86400000, "max_concurrency": 1,
		},
	})
}

func (s *rest) getSelf(*call) *Plan {
	o := wireUser(s.w.bot)
	o["mfa_enabled"], o["locale"], o["verified"], o["email"] = false, "en-US", true, nil
	return ok(o)
}

func (s *rest) openDM(c *call) *Plan {
	var in struct {
		RecipientID string `json:"recipient_id"`
	}
	if refusal := c.decode(&in); refusal != nil {
		return refusal
	}
	u, known := s.w.users[in.RecipientID]
	if !known {
		return failure(http.StatusBadRequest, 50007)
	}
	return ok(s.w.wireChannel(s.w.directChannel(u)))
}

func (s *rest) getApplication(*call) *Plan { return ok(s.w.wireApplication()) }

func (s *rest) getCommands(c *call) *Plan {
	if c.seg[1] != s.w.app {
		return failure(http.StatusForbidden, 50001)
	}
	out := make([]json.RawMessage, 0, len(s.w.all.Commands))
	for _, k := range s.w.all.Commands {
		out = append(out, k.raw)
	}
	return ok(out)
}

// putCommands replaces all commands. A command with an existing name keeps its ID.
func (s *rest) putCommands(c *call) *Plan {
	var in []object
	if refusal := c.decode(&in); refusal != nil || c.seg[1] != s.w.app {
		return failure(http.StatusForbidden, 50001)
	}
	var commands []Command
	for _, o := range in {
		k := Command{Name: o["name"].(string)}
		// A message command has only a name (interactions/application-commands#message-commands).
		if kind, is := o["type"].(float64); is && kind == 3 {
			k.Kind = discordgo.MessageApplicationCommand
			if about, _ := o["description"].(string); about != "" || o["options"] != nil && len(o["options"].([]any)) > 0 {
				return invalidForm("description", "a message command has no description and no options")
			}
		}
		same := func(other Command) bool { return other.Name == k.Name && other.Kind == k.Kind }
		if slices.ContainsFunc(commands, same) {
			return invalidForm("name", "Application command names must be unique")
		}
		if i := slices.IndexFunc(s.w.all.Commands, same); i >= 0 {
			k.ID = s.w.all.Commands[i].ID
		} else {
			k.ID = s.w.next()
		}
		dropNulls(o)
		defaults(o, object{
			"type": 1, "description": "", "nsfw": false, "dm_permission": true, "integration_types": []int{0},
			"default_member_permissions": nil, "contexts": nil, // required, and may be null
		})
		o["id"], o["application_id"], o["version"] = k.ID, s.w.app, s.w.next()
		k.raw = encode(o)
		commands = append(commands, k)
	}
	s.w.all.Commands = commands
	s.w.all.CommandPuts++
	return s.getCommands(c)
}
