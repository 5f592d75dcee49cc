package main

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core/updates"
	"ollimbot/core/words"
)

type updatesCmd struct {
	JSON bool `name:"json" help:"Answer as JSON."`
}

// updateAnswer is one pending update of the JSON answer.
type updateAnswer struct {
	Key     string    `json:"key"`
	At      time.Time `json:"at"`
	Message string    `json:"message"`
	Dropped int       `json:"dropped"`
}

// Run lists what background runs left for the main session, oldest first. It
// takes nothing away.
func (c *updatesCmd) Run(p *process) error {
	at, err := p.open()
	if err != nil {
		return err
	}
	list := updates.NewQueue(at.dir, at.env.Zone, p.log()).Peek()
	if c.JSON {
		answer := make([]updateAnswer, 0, len(list))
		for _, u := range list {
			answer = append(answer, updateAnswer{Key: u.Key, At: u.At, Message: u.Message, Dropped: u.Dropped})
		}
		return p.json(answer)
	}
	if len(list) == 0 {
		return p.lines("no pending updates")
	}
	lines := make([]string, 0, len(list))
	for _, u := range list {
		text := strings.ReplaceAll(u.Message, "\n", "\n                  ")
		lines = append(lines, fmt.Sprintf("%16s  %s", words.Ago(at.now.Sub(u.At)), text))
	}
	return p.lines(lines...)
}
