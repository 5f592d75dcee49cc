package fake

import (
	"encoding/json"
	"net/http"
)

func (s *Server) getGateway(*call) answer { return ok(object{"url": s.ws}) }

func (s *Server) getGatewayBot(*call) answer {
	return ok(object{
		"url": s.ws, "shards": 1,
		"session_start_limit": object{
			"total": max(1000, s.startsLeft), "remaining": s.startsLeft, "reset_after": 86400000, "max_concurrency": 1,
		},
	})
}

func (s *Server) getSelf(*call) answer {
	o := wireUser(s.bot)
	o["mfa_enabled"], o["locale"], o["verified"], o["email"] = false, "en-US", true, nil
	return ok(o)
}

func (s *Server) getUser(c *call) answer {
	u, known := s.users[c.seg[1]]
	if !known {
		return failure(http.StatusNotFound, 10013)
	}
	return ok(wireUser(u))
}

func (s *Server) openDM(c *call) answer {
	var in struct {
		RecipientID string `json:"recipient_id"`
	}
	if refusal := decodeBody(c, &in); refusal != nil {
		return *refusal
	}
	u, known := s.users[in.RecipientID]
	if !known {
		return failure(http.StatusBadRequest, 50007)
	}
	return ok(s.wireChannel(s.directChannel(u)))
}

func (s *Server) getChannel(c *call) answer {
	ch := s.channels[c.seg[1]]
	if ch == nil {
		return failure(http.StatusNotFound, 10003)
	}
	return ok(s.wireChannel(ch))
}

func (s *Server) getApplication(*call) answer { return ok(s.wireApplication()) }

func (s *Server) getCommands(c *call) answer {
	if c.seg[1] != s.app {
		return failure(http.StatusForbidden, 50001)
	}
	out := make([]json.RawMessage, 0, len(s.commands))
	for _, k := range s.commands {
		out = append(out, k.Raw)
	}
	return ok(out)
}

// putCommands replaces all commands. One whose name stays keeps its id.
func (s *Server) putCommands(c *call) answer {
	if c.seg[1] != s.app {
		return failure(http.StatusForbidden, 50001)
	}
	var in []object
	if refusal := decodeBody(c, &in); refusal != nil {
		return *refusal
	}
	kept := make(map[string]string)
	for _, k := range s.commands {
		kept[k.Name] = k.ID
	}
	commands := make([]Command, 0, len(in))
	seen := make(map[string]bool)
	for _, o := range in {
		name, _ := o["name"].(string)
		if seen[name] {
			return *invalidForm("name", "Application command names must be unique")
		}
		seen[name] = true
		id := kept[name]
		if id == "" {
			id = s.next(s.now())
		}
		commands = append(commands, Command{ID: id, Name: name, Raw: s.wireCommand(o, id)})
	}
	s.commands = commands
	s.commandPuts++
	return s.getCommands(c)
}

func (s *Server) wireCommand(o object, id string) json.RawMessage {
	dropNulls(o)
	defaults(o, object{
		"type": 1, "description": "", "nsfw": false, "dm_permission": true, "integration_types": []int{0},
	})
	o["id"], o["application_id"], o["version"] = id, s.app, s.next(s.now())
	if o["default_member_permissions"] == nil {
		o["default_member_permissions"] = nil // required, and may be null
	}
	if o["contexts"] == nil {
		o["contexts"] = nil
	}
	return encode(o)
}
