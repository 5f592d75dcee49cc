package fake

import (
	"encoding/json"
	"net/http"
	"slices"
)

func (s *Server) getGateway(*call) *answer { return ok(object{"url": s.ws}) }

func (s *Server) getGatewayBot(*call) *answer {
	return ok(object{
		"url": s.ws, "shards": 1,
		"session_start_limit": object{
			"total": max(1000, s.startsLeft), "remaining": s.startsLeft, "reset_after": 86400000, "max_concurrency": 1,
		},
	})
}

func (s *Server) getSelf(*call) *answer {
	o := wireUser(s.bot)
	o["mfa_enabled"], o["locale"], o["verified"], o["email"] = false, "en-US", true, nil
	return ok(o)
}

func (s *Server) openDM(c *call) *answer {
	var in struct {
		RecipientID string `json:"recipient_id"`
	}
	if refusal := c.decode(&in); refusal != nil {
		return refusal
	}
	u, known := s.users[in.RecipientID]
	if !known {
		return failure(http.StatusBadRequest, 50007)
	}
	return ok(s.wireChannel(s.directChannel(u)))
}

func (s *Server) getApplication(*call) *answer { return ok(s.wireApplication()) }

func (s *Server) getCommands(c *call) *answer {
	if c.seg[1] != s.app {
		return failure(http.StatusForbidden, 50001)
	}
	out := make([]json.RawMessage, 0, len(s.commands))
	for _, k := range s.commands {
		out = append(out, k.raw)
	}
	return ok(out)
}

// putCommands replaces all commands. One whose name stays keeps its id.
func (s *Server) putCommands(c *call) *answer {
	var in []object
	if refusal := c.decode(&in); refusal != nil || c.seg[1] != s.app {
		return failure(http.StatusForbidden, 50001)
	}
	var commands []Command
	for _, o := range in {
		k := Command{Name: o["name"].(string)}
		same := func(other Command) bool { return other.Name == k.Name }
		if slices.ContainsFunc(commands, same) {
			return invalidForm("name", "Application command names must be unique")
		}
		if i := slices.IndexFunc(s.commands, same); i >= 0 {
			k.ID = s.commands[i].ID
		} else {
			k.ID = s.next(s.now())
		}
		dropNulls(o)
		defaults(o, object{
			"type": 1, "description": "", "nsfw": false, "dm_permission": true, "integration_types": []int{0},
			"default_member_permissions": nil, "contexts": nil, // required, and may be null
		})
		o["id"], o["application_id"], o["version"] = k.ID, s.app, s.next(s.now())
		k.raw = encode(o)
		commands = append(commands, k)
	}
	s.commands = commands
	s.commandPuts++
	return s.getCommands(c)
}
